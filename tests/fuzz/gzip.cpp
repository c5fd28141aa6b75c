// ByteSource: plain and gzip content, read in pieces of several sizes.
// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <array>
#include <vector>

#include "bench/data/byte_source.h"
#include "tests/fuzz/fuzz.h"

namespace stepscope::fuzz {
namespace {

constexpr std::size_t kMostBytes = std::size_t{1}
                                   << 16;  // of an inflated input: speed is what finds things

std::vector<std::uint8_t> content(const std::filesystem::path& path, std::size_t piece) {
  ByteSource source(path);
  std::vector<std::uint8_t> all;
  std::vector<std::uint8_t> part(piece);
  while (all.size() < kMostBytes) {
    const std::size_t got = source.read(part);
    require(got <= piece, "more was read than there was room for");
    all.insert(all.end(), part.begin(), part.begin() + static_cast<std::ptrdiff_t>(got));
    if (got < piece) break;
  }
  return all;
}

}  // namespace

void run(std::span<const std::uint8_t> input) {
  const MemoryFile file(input);
  std::vector<std::uint8_t> whole;
  const bool good = accepts([&] { whole = content(file.path(), kMostBytes); });
  for (const std::size_t piece : {1000, 7}) {
    if (whole.size() > 1000 * piece) continue;
    std::vector<std::uint8_t> pieces;
    const bool again = accepts([&] { pieces = content(file.path(), piece); });
    if (whole.size() >= kMostBytes || pieces.size() >= kMostBytes) continue;  // not to the end
    require(again == good && pieces == whole, "another content when read in pieces");
  }
  accepts([&] { ByteSource(file.path()).skip(kMostBytes); });
}

}  // namespace stepscope::fuzz
