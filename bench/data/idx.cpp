// Reading IDX files: the header is believed only as far as the bytes bear it out.
// SPDX-License-Identifier: Apache-2.0
#include "bench/data/idx.h"

#include <algorithm>
#include <array>
#include <span>
#include <string>
#include <string_view>

#include "bench/data/byte_source.h"
#include "ops/base/check.h"

namespace stepscope {
namespace {

constexpr std::size_t kWord = 4;           // bytes of the magic and of each dimension
constexpr std::uint8_t kUnsignedByte = 8;  // element type, third byte of the magic

// What a caller wants to find in a file.
struct Wanted {
  std::string_view what;
  std::size_t rank;
  std::array<std::string_view, 3> dimensions;

  std::uint32_t magic() const { return kUnsignedByte << 8U | static_cast<std::uint32_t>(rank); }
  std::uint64_t header_bytes() const { return kWord * (1 + rank); }
};
constexpr Wanted kImages{"images", 3, {"images", "rows", "columns"}};
constexpr Wanted kLabels{"labels", 1, {"labels"}};

struct Header {
  std::array<std::uint32_t, 3> sizes{1, 1, 1};
  std::uint64_t elements = 0;
};

std::uint32_t big_endian(std::span<const std::uint8_t> bytes) {
  return std::uint32_t{bytes[0]} << 24 | std::uint32_t{bytes[1]} << 16 |
         std::uint32_t{bytes[2]} << 8 | bytes[3];
}

// What a wrong magic says about the file, for the message.
std::string_view guess(std::uint32_t magic) {
  if (magic == kLabels.magic()) return "this is a file of labels";
  if (magic == kImages.magic()) return "this is a file of images";
  if (magic >> 16 != 0) return "this is no IDX file";
  if ((magic >> 8 & 0xff) != kUnsignedByte) return "only unsigned bytes, type 0x08, are read";
  return "the number of dimensions, the last byte, differs";
}

void check_magic(std::uint32_t magic, const Wanted& wanted, const std::string& name) {
  check(magic == wanted.magic(), Fault::bad_input,
        "{}: magic 0x{:08x} at byte 0, expected 0x{:08x} (IDX, {}): {}", name, magic,
        wanted.magic(), wanted.what, guess(magic));
}

// The product of the sizes. Each factor is below 2^32, and a product that has passed the bound is
// not multiplied further: nothing overflows.
std::uint64_t count_elements(const Header& header, const Wanted& wanted, const std::string& name) {
  std::uint64_t elements = 1;
  for (std::size_t i = 0; i < wanted.rank; ++i) {
    check(header.sizes[i] > 0, Fault::bad_input,
          "{}: the number of {} at byte {} is 0, expected 1 or more", name, wanted.dimensions[i],
          kWord * (1 + i));
    elements *= header.sizes[i];
    check(elements <= kLargestIdxBytes - wanted.header_bytes(), Fault::bad_input,
          "{}: the header promises {} bytes, more than the {} (4 GiB) that are read", name,
          fmt::join(header.sizes.begin(), header.sizes.begin() + wanted.rank, " x "),
          kLargestIdxBytes);
  }
  return elements;
}

Header read_header(ByteSource& source, const Wanted& wanted, const std::string& name) {
  std::array<std::uint8_t, kWord * 4> bytes{};
  const auto header_bytes = static_cast<std::size_t>(wanted.header_bytes());
  const std::size_t got = source.read(std::span(bytes).first(header_bytes));
  check(got > 0, Fault::bad_input, "{}: is empty, expected an IDX file of {}", name, wanted.what);
  if (got >= kWord) check_magic(big_endian(bytes), wanted, name);
  check(got == header_bytes, Fault::bad_input,
        "{}: ends at byte {}, inside the header of {} bytes that an IDX file of {} has", name, got,
        header_bytes, wanted.what);
  Header header;
  for (std::size_t i = 0; i < wanted.rank; ++i) {
    header.sizes[i] = big_endian(std::span(bytes).subspan(kWord * (1 + i)));
  }
  header.elements = count_elements(header, wanted, name);
  return header;
}

// Fewer or more than promised; `found` counts the header too.
[[noreturn]] void fail_truncated(const std::string& name, std::uint64_t promised,
                                 std::uint64_t found, std::string_view unit) {
  fail(Fault::bad_input, "{}: truncated: its header promises {} bytes, there are {}{}", name,
       promised, found, unit);
}
[[noreturn]] void fail_trailing(const std::string& name, std::uint64_t promised,
                                std::uint64_t trailing, std::string_view unit) {
  fail(Fault::bad_input,
       "{}: {} trailing bytes: its header promises {} bytes{}, expected the end there", name,
       trailing, promised, unit);
}

std::vector<std::uint8_t> read_plain(ByteSource& source, std::uint64_t promised,
                                     std::uint64_t elements, const std::string& name) {
  const std::uint64_t found = source.file_bytes();
  if (found < promised) fail_truncated(name, promised, found, "");
  if (found > promised) fail_trailing(name, promised, found - promised, "");
  std::vector<std::uint8_t> content(static_cast<std::size_t>(elements));
  check(source.read(content) == content.size(), Fault::io, "{}: got shorter while it was read",
        name);
  return content;
}

std::vector<std::uint8_t> read_gzip(ByteSource& source, std::uint64_t promised,
                                    std::uint64_t elements, const std::string& name) {
  constexpr std::uint64_t kStep = std::uint64_t{1} << 20;
  constexpr std::string_view kInflated = " when inflated";
  std::vector<std::uint8_t> content;
  while (content.size() < elements) {
    const std::size_t before = content.size();
    const auto step = static_cast<std::size_t>(std::min(kStep, elements - before));
    content.resize(before + step);
    const std::size_t got = source.read(std::span(content).subspan(before));
    if (got < step) {
      fail_truncated(name, promised, promised - elements + before + got, kInflated);
    }
  }
  // Reading on also checks the checksum of the last member.
  const std::uint64_t trailing = source.skip(kLargestIdxBytes);
  if (trailing > 0) fail_trailing(name, promised, trailing, kInflated);
  return content;
}

struct Array {
  Header header;
  std::vector<std::uint8_t> content;
};

Array read_idx(const std::filesystem::path& path, const Wanted& wanted) {
  const std::string name = path.string();
  ByteSource source(path);
  const Header header = read_header(source, wanted, name);
  const std::uint64_t promised = wanted.header_bytes() + header.elements;
  auto* const read = source.form() == ByteSource::Form::gzip ? read_gzip : read_plain;
  return {header, read(source, promised, header.elements, name)};
}

}  // namespace

IdxImages read_idx_images(const std::filesystem::path& path) {
  auto [header, content] = read_idx(path, kImages);
  return {.count = header.sizes[0],
          .rows = header.sizes[1],
          .columns = header.sizes[2],
          .pixels = std::move(content)};
}

std::vector<std::uint8_t> read_idx_labels(const std::filesystem::path& path) {
  return read_idx(path, kLabels).content;
}

}  // namespace stepscope
