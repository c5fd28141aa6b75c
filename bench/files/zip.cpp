// The central directory is believed only as far as the bytes bear it out.
// SPDX-License-Identifier: Apache-2.0
#include "bench/files/zip.h"

#include <zlib.h>

#include <algorithm>
#include <set>
#include <string>
#include <vector>

#include "bench/files/shown.h"
#include "ops/base/check.h"

namespace stepscope {
namespace {

using Bytes = std::span<const std::uint8_t>;

constexpr std::uint32_t kEndMagic = 0x06054b50;
constexpr std::uint32_t kDirectoryMagic = 0x02014b50;
constexpr std::uint32_t kLocalMagic = 0x04034b50;
constexpr std::size_t kEndBytes = 22, kDirectoryBytes = 46, kLocalBytes = 30;
constexpr std::size_t kMostComment = 0xffff;
constexpr std::uint32_t kInZip64 = 0xffffffff;  // the number is in a zip64 field
constexpr unsigned kStored = 0, kDeflated = 8;
constexpr unsigned kEncrypted = 1;  // of the flags

unsigned u16(Bytes bytes, std::size_t at) {
  return static_cast<unsigned>(bytes[at] | bytes[at + 1] << 8);
}
std::uint32_t u32(Bytes bytes, std::size_t at) {
  return u16(bytes, at) | static_cast<std::uint32_t>(u16(bytes, at + 2)) << 16;
}
std::string_view text(Bytes bytes) {
  return {reinterpret_cast<const char*>(bytes.data()), bytes.size()};
}

struct Member {
  std::string_view name;
  unsigned method = kStored;
  std::uint32_t crc = 0;
  std::size_t packed = 0, size = 0;  // bytes in the file, and unpacked
  std::size_t local = 0;             // where the local header begins
  std::size_t begin = 0;             // where the content begins
};

struct Directory {
  std::size_t begin = 0, bytes = 0, members = 0;
};

Directory find_directory(Bytes bytes, std::string_view who) {
  const std::size_t last = bytes.size() < kEndBytes ? 0 : bytes.size() - kEndBytes;
  const std::size_t first = last < kMostComment ? 0 : last - kMostComment;
  for (std::size_t at = last + 1; bytes.size() >= kEndBytes && at-- > first;) {
    if (u32(bytes, at) != kEndMagic || u16(bytes, at + 20) != last - at) continue;
    check(u16(bytes, at + 4) == 0 && u16(bytes, at + 6) == 0 &&
              u16(bytes, at + 8) == u16(bytes, at + 10),
          Fault::bad_input, "{}: is one part of a zip file in several, expected a whole one", who);
    const Directory directory{u32(bytes, at + 16), u32(bytes, at + 12), u16(bytes, at + 10)};
    check(directory.begin != kInZip64 && directory.bytes != kInZip64 && directory.members != 0xffff,
          Fault::bad_input, "{}: is zip64, which is not supported: expected less than 4 GiB", who);
    check(directory.begin <= at && directory.bytes == at - directory.begin, Fault::bad_input,
          "{}: its directory of {} bytes at byte {} does not end where the end record begins, at "
          "byte {}: is the file truncated?",
          who, directory.bytes, directory.begin, at);
    return directory;
  }
  fail(Fault::bad_input, "{}: is no zip file, or truncated: it has no end record", who);
}

// Checks the local header of a member and finds its content.
void locate(Member& member, Bytes before_directory, std::string_view who) {
  const Bytes& bytes = before_directory;
  const std::string named = shown(member.name);
  check(member.local <= bytes.size() && bytes.size() - member.local >= kLocalBytes &&
            u32(bytes, member.local) == kLocalMagic,
        Fault::bad_input, "{}: member {}: no local header at byte {}", who, named, member.local);
  const std::size_t name_bytes = u16(bytes, member.local + 26);
  const std::size_t extra_bytes = u16(bytes, member.local + 28);
  const std::size_t behind = bytes.size() - member.local - kLocalBytes;
  check(name_bytes + extra_bytes <= behind && member.packed <= behind - name_bytes - extra_bytes,
        Fault::bad_input, "{}: member {}: its {} bytes reach beyond the directory at byte {}", who,
        named, member.packed, bytes.size());
  member.begin = member.local + kLocalBytes + name_bytes + extra_bytes;
  check(text(bytes.subspan(member.local + kLocalBytes, name_bytes)) == member.name &&
            u16(bytes, member.local + 8) == member.method,
        Fault::bad_input, "{}: member {}: its local header says otherwise than the directory", who,
        named);
}

Member read_entry(Bytes entry, std::string_view who) {
  const Member member{.name = text(entry.subspan(kDirectoryBytes, u16(entry, 28))),
                      .method = u16(entry, 10),
                      .crc = u32(entry, 16),
                      .packed = u32(entry, 20),
                      .size = u32(entry, 24),
                      .local = u32(entry, 42)};
  const std::string named = shown(member.name);
  check((u16(entry, 8) & kEncrypted) == 0, Fault::bad_input, "{}: member {} is encrypted", who,
        named);
  check(member.method == kStored || member.method == kDeflated, Fault::bad_input,
        "{}: member {}: packed by method {}, expected 0 (stored) or 8 (deflated)", who, named,
        member.method);
  check(member.packed != kInZip64 && member.size != kInZip64 && member.local != kInZip64,
        Fault::bad_input, "{}: member {} is zip64, which is not supported", who, named);
  check(member.method != kStored || member.packed == member.size, Fault::bad_input,
        "{}: member {}: stored with {} bytes for a size of {}", who, named, member.packed,
        member.size);
  return member;
}

std::vector<Member> read_directory(Bytes bytes, std::string_view who) {
  const Directory directory = find_directory(bytes, who);
  Bytes rest = bytes.subspan(directory.begin, directory.bytes);
  std::vector<Member> members;
  std::set<std::string_view> names;
  for (std::size_t i = 0; i < directory.members; ++i) {
    const bool fits =
        rest.size() >= kDirectoryBytes && u32(rest, 0) == kDirectoryMagic &&
        rest.size() - kDirectoryBytes >= std::size_t{u16(rest, 28)} + u16(rest, 30) + u16(rest, 32);
    check(fits, Fault::bad_input, "{}: entry {} of the directory is broken", who, i);
    members.push_back(read_entry(rest, who));
    check(names.insert(members.back().name).second, Fault::bad_input, "{}: has member {} twice",
          who, shown(members.back().name));
    locate(members.back(), bytes.first(directory.begin), who);
    rest = rest.subspan(kDirectoryBytes + u16(rest, 28) + u16(rest, 30) + u16(rest, 32));
  }
  check(rest.empty(), Fault::bad_input, "{}: {} bytes of directory behind its {} members", who,
        rest.size(), directory.members);
  return members;
}

// So that a small file cannot hold one bomb many times.
void check_apart(std::vector<Member> members, std::string_view who) {
  std::sort(members.begin(), members.end(),
            [](const Member& a, const Member& b) { return a.local < b.local; });
  for (std::size_t i = 1; i < members.size(); ++i) {
    check(members[i - 1].begin + members[i - 1].packed <= members[i].local, Fault::bad_input,
          "{}: members {} and {} overlap", who, shown(members[i - 1].name), shown(members[i].name));
  }
}

struct Inflation {
  z_stream stream{};
  ~Inflation() { inflateEnd(&stream); }
};

// Grows with what comes out, never ahead of it.
std::vector<std::uint8_t> inflate_member(Bytes packed, const Member& member, std::string_view who) {
  constexpr std::size_t kStep = std::size_t{1} << 20;
  const std::string named = shown(member.name);
  Inflation inflation;
  z_stream& stream = inflation.stream;
  check(inflateInit2(&stream, -MAX_WBITS) == Z_OK, Fault::device, "{}: zlib cannot start", who);
  stream.next_in = const_cast<Bytef*>(packed.data());
  stream.avail_in = static_cast<uInt>(packed.size());
  std::vector<std::uint8_t> content;
  std::vector<std::uint8_t> block(std::min(member.size, kStep - 1) + 1);  // never empty
  int status = Z_OK;
  while (status != Z_STREAM_END) {
    stream.next_out = block.data();
    stream.avail_out = static_cast<uInt>(block.size());
    status = inflate(&stream, Z_NO_FLUSH);
    check(status != Z_MEM_ERROR, Fault::device, "{}: no memory to inflate it", who);
    check(status == Z_OK || status == Z_STREAM_END, Fault::bad_input,
          "{}: member {}: corrupt or truncated deflate data (zlib: {})", who, named,
          stream.msg != nullptr ? stream.msg : zError(status));
    content.insert(content.end(), block.data(), stream.next_out);
    check(content.size() <= member.size, Fault::bad_input,
          "{}: member {}: inflates to more than the {} bytes that the directory gives", who, named,
          member.size);
  }
  check(content.size() == member.size && stream.avail_in == 0, Fault::bad_input,
        "{}: member {}: {} bytes inflated to {}, the directory gives {} and {}", who, named,
        packed.size() - stream.avail_in, content.size(), packed.size(), member.size);
  return content;
}

void check_crc(Bytes content, const Member& member, std::string_view who) {
  const auto found = static_cast<std::uint32_t>(crc32_z(0, content.data(), content.size()));
  check(found == member.crc, Fault::bad_input,
        "{}: member {}: CRC-32 is {:08x}, expected {:08x}: the file is damaged", who,
        shown(member.name), found, member.crc);
}

}  // namespace

void visit_zip(Bytes bytes, std::string_view who, const ZipVisitor& visit) {
  const std::vector<Member> members = read_directory(bytes, who);
  check_apart(members, who);
  for (const Member& member : members) {
    const Bytes packed = bytes.subspan(member.begin, member.packed);
    if (member.method == kStored) {
      check_crc(packed, member, who);
      visit(member.name, packed);
    } else {
      const std::vector<std::uint8_t> content = inflate_member(packed, member, who);
      check_crc(content, member, who);
      visit(member.name, content);
    }
  }
}

}  // namespace stepscope
