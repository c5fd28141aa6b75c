// IDX: the file format of MNIST, plain or gzip. Unsigned bytes only: images and labels.
//
// Header, big-endian: 0x00 0x00, element type, number of dimensions, then each dimension as 32
// bits; the elements follow in row-major order and end the file. Source: Y. LeCun, C. Cortes, C.
// Burges, "The MNIST database", section "file formats".
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <filesystem>
#include <vector>

namespace stepscope {

struct IdxImages {
  std::int64_t count = 0, rows = 0, columns = 0;
  std::vector<std::uint8_t> pixels;  // {count, rows, columns}
};

// What a header may promise, header included: far above any such data set, and the bound of what a
// small gzip file can make us inflate.
inline constexpr std::uint64_t kLargestIdxBytes = std::uint64_t{4} << 30;

// Both read the whole file. They throw io when it cannot be read and bad_input when it is not what
// it should be: empty, another magic, type or rank, a dimension of 0, more than kLargestIdxBytes,
// fewer or more bytes than the header promises, broken gzip. The message names the file, the place
// and the expectation. Memory grows with the bytes that are really there, never ahead of them.
IdxImages read_idx_images(const std::filesystem::path& path);                  // magic 0x00000803
std::vector<std::uint8_t> read_idx_labels(const std::filesystem::path& path);  // magic 0x00000801

}  // namespace stepscope
