// NPZ: stored and deflated members, and what a damaged or hostile zip file is told.
// SPDX-License-Identifier: Apache-2.0
#include "bench/files/npz.h"

#include <gtest/gtest.h>

#include "tests/bench/files/bytes.h"
#include "tests/support/errors.h"

namespace stepscope {
namespace {

using test::bytes_from;
using test::error_of;
using test::npy_text;
using test::packed;
using test::stored;
using test::zip_text;
using test::ZipEntry;

constexpr std::string_view kPair = "{'descr': '|u1', 'fortran_order': False, 'shape': (2,), }";

std::vector<HostTensor> parse(const std::string& file) {
  return read_npz(bytes_from(file), "x.npz");
}
std::string refusal(const std::string& file) {
  return error_of([&] { parse(file); });
}
std::string refusal(const ZipEntry& entry) { return refusal(zip_text({entry})); }

TEST(Npz, StoredAndDeflatedMembersInOrder) {
  const std::vector<HostTensor> tensors =
      parse(zip_text({stored("b.npy", npy_text(kPair, "xy")),
                      packed("layers/0.weight.npy", npy_text(kPair, "uv"))},
                     "a comment"));
  ASSERT_EQ(tensors.size(), 2U);
  EXPECT_EQ(tensors[0].name, "b");
  EXPECT_EQ(test::list_of<char>(tensors[0].bytes), (std::vector<char>{'x', 'y'}));
  EXPECT_EQ(tensors[1].name, "layers/0.weight");
  EXPECT_EQ(test::list_of<char>(tensors[1].bytes), (std::vector<char>{'u', 'v'}));
}

TEST(Npz, MembersOfManyMegabytes) {
  const std::string zeros(std::size_t{3} << 20, '\0');
  const std::string dict = "{'descr': '|u1', 'fortran_order': False, 'shape': (3145728,), }";
  EXPECT_EQ(parse(zip_text({packed("z.npy", npy_text(dict, zeros))}))[0].bytes.size(),
            zeros.size());
}

TEST(Npz, AnEmptyOne) { EXPECT_TRUE(parse(zip_text({})).empty()); }

TEST(Npz, MembersMustBeNpy) {
  EXPECT_EQ(refusal(stored("a.txt", "text")),
            "bad input: x.npz: member 'a.txt' is no .npy, expected an NPZ file");
  EXPECT_EQ(refusal(stored("a.npy", npy_text(kPair, "x"))),
            "bad input: x.npz: member 'a.npy': truncated: u8 of {2} take 2 bytes, there are 1");
}

TEST(Npz, OtherElementsAreLeftOutForThoseWhoAsk) {
  const auto member = [](std::string_view descr, std::string_view order = "False") {
    return npy_text(
        fmt::format("{{'descr': {}, 'fortran_order': {}, 'shape': (2,), }}", descr, order), "xy");
  };
  std::vector<UnreadTensor> unread;
  const std::vector<HostTensor> tensors = read_npz(
      bytes_from(zip_text(
          {stored("flag.npy", member("'|b1'")), packed("object.npy", member("'|O'")),
           stored("record.npy", member("[('a', '<f4')]")),
           stored("turned.npy", member("'|u1'", "True")), stored("b.npy", member("'|u1'"))})),
      "x.npz", &unread);
  ASSERT_EQ(tensors.size(), 1U);
  EXPECT_EQ(tensors[0].name, "b");
  ASSERT_EQ(unread.size(), 4U);
  EXPECT_EQ(unread[0].name, "flag");
  EXPECT_EQ(unread[0].why,
            "x.npz: member 'flag.npy': element type '|b1' is not supported; expected '<f4', "
            "'<f8', '<i4', '<i8' or '|u1'");
  EXPECT_EQ(unread[3].name, "turned");
  // What is broken stays refused.
  EXPECT_EQ(error_of([&] {
              read_npz(bytes_from(zip_text({stored("a.npy", npy_text(kPair, "x"))})), "x.npz",
                       &unread);
            }),
            "bad input: x.npz: member 'a.npy': truncated: u8 of {2} take 2 bytes, there are 1");
}

TEST(Zip, SizesAndChecksumsAreChecked) {
  const std::string content = npy_text(kPair, "xy");  // 69 bytes
  ZipEntry damaged = stored("a.npy", content);
  damaged.crc = 0x12345678;
  EXPECT_EQ(refusal(damaged), fmt::format("bad input: x.npz: member 'a.npy': CRC-32 is {:08x}, "
                                          "expected 12345678: the file is damaged",
                                          test::crc_of(content)));
  ZipEntry longer = packed("a.npy", content);
  longer.size = 68;
  EXPECT_EQ(refusal(longer),
            "bad input: x.npz: member 'a.npy': inflates to more than the 68 bytes that the "
            "directory gives");
  ZipEntry shorter = packed("a.npy", content);
  shorter.size = 70;
  EXPECT_EQ(refusal(shorter),
            fmt::format("bad input: x.npz: member 'a.npy': {0} bytes inflated to 69, the directory "
                        "gives {0} and 70",
                        shorter.packed.size()));
  ZipEntry unequal = stored("a.npy", content);
  unequal.size = 70;
  EXPECT_EQ(refusal(unequal),
            "bad input: x.npz: member 'a.npy': stored with 69 bytes for a size of 70");
  ZipEntry broken = packed("a.npy", content);
  broken.packed[0] = '\xff';
  EXPECT_EQ(refusal(broken),
            "bad input: x.npz: member 'a.npy': corrupt or truncated deflate data (zlib: invalid "
            "block type)");
  ZipEntry cut = packed("a.npy", content);
  cut.packed.resize(cut.packed.size() / 2);
  cut.packed_bytes = cut.packed.size();
  EXPECT_EQ(refusal(cut),
            "bad input: x.npz: member 'a.npy': corrupt or truncated deflate data (zlib: buffer "
            "error)");
}

TEST(Zip, WhatItCannotReadIsNamed) {
  ZipEntry other = stored("a.npy", "x");
  other.method = 12;
  EXPECT_EQ(refusal(other),
            "bad input: x.npz: member 'a.npy': packed by method 12, expected 0 (stored) or 8 "
            "(deflated)");
  ZipEntry secret = stored("a.npy", "x");
  secret.flags = 1;
  EXPECT_EQ(refusal(secret), "bad input: x.npz: member 'a.npy' is encrypted");
  ZipEntry large = stored("a.npy", "x");
  large.size = large.packed_bytes = 0xffffffff;
  EXPECT_EQ(refusal(large), "bad input: x.npz: member 'a.npy' is zip64, which is not supported");
  ZipEntry disguised = stored("a.npy", "x");
  disguised.local_name = "b.npy";
  EXPECT_EQ(refusal(disguised),
            "bad input: x.npz: member 'a.npy': its local header says otherwise than the directory");
  ZipEntry beyond = stored("a.npy", "x");
  beyond.size = beyond.packed_bytes = 1000;
  EXPECT_EQ(refusal(beyond),
            "bad input: x.npz: member 'a.npy': its 1000 bytes reach beyond the directory at byte "
            "36");
  EXPECT_EQ(refusal(zip_text({stored("a.npy", "x"), stored("a.npy", "y")})),
            "bad input: x.npz: has member 'a.npy' twice");
}

TEST(Zip, BrokenDirectories) {
  const std::string whole = zip_text({stored("a.npy", npy_text(kPair, "xy"))});
  EXPECT_EQ(refusal(""), "bad input: x.npz: is no zip file, or truncated: it has no end record");
  EXPECT_EQ(refusal(whole.substr(0, whole.size() - 1)),
            "bad input: x.npz: is no zip file, or truncated: it has no end record");
  EXPECT_EQ(
      refusal(whole.substr(5)),
      fmt::format("bad input: x.npz: its directory of 51 bytes at byte 104 does not end where "
                  "the end record begins, at byte {}: is the file truncated?",
                  whole.size() - 22 - 5));
  std::string no_entry = whole;
  no_entry[104] = 'X';
  EXPECT_EQ(refusal(no_entry), "bad input: x.npz: entry 0 of the directory is broken");
  std::string no_local = whole;
  no_local[0] = 'X';
  EXPECT_EQ(refusal(no_local), "bad input: x.npz: member 'a.npy': no local header at byte 0");
  std::string fewer = whole;
  fewer[whole.size() - 14] = fewer[whole.size() - 12] = 0;
  EXPECT_EQ(refusal(fewer), "bad input: x.npz: 51 bytes of directory behind its 0 members");
  std::string parts = whole;
  parts[whole.size() - 18] = 1;
  EXPECT_EQ(refusal(parts),
            "bad input: x.npz: is one part of a zip file in several, expected a whole one");
  std::string zip64 = whole;
  for (std::size_t i = 6; i < 10; ++i) zip64[whole.size() - i] = '\xff';
  zip64[whole.size() - 3] = zip64[whole.size() - 4] = zip64[whole.size() - 5] =
      zip64[whole.size() - 6] = '\xff';
  EXPECT_EQ(refusal(zip64),
            "bad input: x.npz: is zip64, which is not supported: expected less than 4 GiB");
}

// A small file cannot hold one large member many times.
TEST(Zip, MembersMayNotOverlap) {
  const std::string inner_content = npy_text(kPair, "xy");
  const std::string inner = zip_text({stored("b.npy", inner_content)});
  // The first member holds the second one's local header and content.
  const std::string content = inner.substr(0, 35 + inner_content.size());
  std::string file = zip_text({stored("a.npy", content), stored("b.npy", inner_content)});
  const std::size_t directory = 35 + content.size() + 35 + inner_content.size();
  file[directory + 51 + 42] = 35;  // where member b is said to begin: inside of a
  EXPECT_EQ(refusal(file), "bad input: x.npz: members 'a.npy' and 'b.npy' overlap");
}

}  // namespace
}  // namespace stepscope
