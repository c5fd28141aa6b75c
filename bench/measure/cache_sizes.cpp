// How large the caches are, and what buffers follow.
// SPDX-License-Identifier: Apache-2.0
#include "bench/measure/cache_sizes.h"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <charconv>
#include <fstream>

namespace stepscope {
namespace {

constexpr std::size_t kKiB = 1024, kMiB = 1024 * kKiB;

std::size_t from_sysconf(int name) {
  const long value = sysconf(name);  // 0 or -1: not known
  return value > 0 ? static_cast<std::size_t>(value) : 0;
}

std::string word_of(const std::filesystem::path& file) {
  std::ifstream in(file);
  std::string word;
  in >> word;
  return word;
}

// "48K", "2M".
std::size_t bytes_of(const std::string& text) {
  std::size_t number = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (error != std::errc{}) return 0;
  const char unit = end == text.data() + text.size() ? ' ' : *end;
  return number * (unit == 'K' ? kKiB : unit == 'M' ? kMiB : 1);
}

CacheSizes from_sys(const std::filesystem::path& root) {
  CacheSizes sizes;
  for (int index = 0; index < 8; ++index) {
    const auto folder = root / fmt::format("sys/devices/system/cpu/cpu0/cache/index{}", index);
    const std::string level = word_of(folder / "level"), type = word_of(folder / "type");
    if (type == "Instruction") continue;
    const std::size_t bytes = bytes_of(word_of(folder / "size"));
    if (level == "1") sizes.l1 = bytes;
    if (level == "2") sizes.l2 = bytes;
    if (level == "3") sizes.l3 = bytes;
  }
  return sizes;
}

}  // namespace

CacheSizes cache_sizes(const std::filesystem::path& root) {
  CacheSizes sizes;
  if (root == "/") {
    sizes = {from_sysconf(_SC_LEVEL1_DCACHE_SIZE), from_sysconf(_SC_LEVEL2_CACHE_SIZE),
             from_sysconf(_SC_LEVEL3_CACHE_SIZE), "sysconf"};
  }
  if (sizes.l1 == 0 || sizes.l2 == 0) {
    sizes = from_sys(root);
    sizes.source = "sysfs";
  }
  if (sizes.l1 == 0 || sizes.l2 == 0) return {32 * kKiB, kMiB, 32 * kMiB, "assumed"};
  return sizes;
}

std::vector<ProbeSize> probe_sizes(const CacheSizes& caches, std::size_t most_bytes) {
  const std::size_t l3 = 4 * caches.l2;
  const std::size_t dram = std::max(2 * std::max(caches.l2, caches.l3), 64 * kMiB);
  std::vector<ProbeSize> sizes{
      {"l1", caches.l1 / 2, {}}, {"l2", caches.l2 / 2, {}}, {"l3", l3, {}}, {"dram", dram, {}}};
  if (caches.l3 == 0) {
    sizes[2] = {"l3", 0, "the system knows of no third-level cache"};
  } else if (l3 > caches.l3 / 2) {
    sizes[2] = {"l3", 0,
                fmt::format("four times the second level are {} KiB, more than half of the third, "
                            "{} KiB",
                            l3 / kKiB, caches.l3 / kKiB)};
  }
  if (dram > most_bytes) {
    sizes[3] = {"dram", 0,
                fmt::format("twice the last cache are {} MiB, and {} MiB may be used", dram / kMiB,
                            most_bytes / kMiB)};
  }
  return sizes;
}

}  // namespace stepscope
