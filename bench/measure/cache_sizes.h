// Cache sizes, and the buffers that fit one level of memory and not the one before.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <filesystem>
#include <string>
#include <vector>

namespace stepscope {

// Bytes that one core sees of data caches; 0: there is none.
struct CacheSizes {
  std::size_t l1 = 0, l2 = 0, l3 = 0;
  std::string source;  // who said so
};

// What sysconf says, else /sys under `root`, else sizes that are common: `source` tells.
CacheSizes cache_sizes(const std::filesystem::path& root = "/");

// Bytes of a buffer for each level; 0, with the reason, where no buffer fits.
struct ProbeSize {
  std::string level;  // l1, l2, l3, dram
  std::size_t bytes = 0;
  std::string reason;
};
// l1, l2: half of the cache. l3: four times l2, so that little of it stays there. dram: twice the
// last cache, and not more than `most_bytes`.
std::vector<ProbeSize> probe_sizes(const CacheSizes& caches, std::size_t most_bytes);

}  // namespace stepscope
