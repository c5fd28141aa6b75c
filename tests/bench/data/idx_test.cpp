// Reading IDX files: every form that is right, and the whole message of everything that is wrong.
// SPDX-License-Identifier: Apache-2.0
#include "bench/data/idx.h"

#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include "tests/bench/data/idx_files.h"
#include "tests/bench/temp_folder.h"
#include "tests/support/errors.h"

namespace stepscope {
namespace {

using test::error_of;
using test::TempFolder;

class Idx : public testing::Test {
 protected:
  // The message of reading `bytes` as images, without the name of the file.
  std::string images_error(const Bytes& bytes) const {
    const auto file = folder_.write("images", bytes);
    return shorten(error_of([&] { read_idx_images(file); }), file);
  }
  std::string labels_error(const Bytes& bytes) const {
    const auto file = folder_.write("labels", bytes);
    return shorten(error_of([&] { read_idx_labels(file); }), file);
  }
  static std::string shorten(std::string message, const std::filesystem::path& file) {
    const std::size_t at = message.find(file.string());
    EXPECT_NE(at, std::string::npos) << "the file is not named: " << message;
    return at == std::string::npos ? message : message.replace(at, file.string().size(), "FILE");
  }
  void expect_ramp(const Bytes& bytes, std::int64_t count, std::int64_t rows,
                   std::int64_t columns) const {
    const IdxImages images = read_idx_images(folder_.write("any-name", bytes));
    EXPECT_EQ(images.count, count);
    EXPECT_EQ(images.rows, rows);
    EXPECT_EQ(images.columns, columns);
    EXPECT_EQ(images.pixels, ramp(static_cast<std::size_t>(count * rows * columns)));
  }

  TempFolder folder_;
};

TEST_F(Idx, PlainAndGzipGiveTheSame) {
  const Bytes plain = image_file(5, 4, 3);
  expect_ramp(plain, 5, 4, 3);
  expect_ramp(gzip(plain), 5, 4, 3);
  EXPECT_EQ(read_idx_labels(folder_.write("l", label_file(12))),
            read_idx_labels(folder_.write("lz", gzip(label_file(12)))));
}

TEST_F(Idx, FormIsToldByContentNotByName) {
  EXPECT_EQ(read_idx_labels(folder_.write("packed-without-suffix", gzip(label_file(3)))),
            (Bytes{0, 1, 2}));
  EXPECT_EQ(read_idx_labels(folder_.write("plain.gz", label_file(3))), (Bytes{0, 1, 2}));
}

// Larger than the window of the reader and than the steps of inflating, cut everywhere.
TEST_F(Idx, SeveralGzipMembersAreOneFile) {
  const Bytes plain = image_file(3, 1000, 1000);
  for (const std::size_t cut : {std::size_t{1}, std::size_t{16}, std::size_t{1} << 20}) {
    expect_ramp(gzip(first(plain, cut)) + gzip({}) + gzip(from(plain, cut)), 3, 1000, 1000);
  }
}

// The header of the second member falls on every place around the end of the first window.
TEST_F(Idx, MemberMayBeginAnywhere) {
  constexpr std::size_t kWindow = std::size_t{256} << 10;
  Bytes noise(kWindow);  // does not compress, so the size of the member follows that of the content
  std::uint32_t state = 1;
  for (std::uint8_t& byte : noise) {
    state = state * 1664525 + 1013904223;
    byte = static_cast<std::uint8_t>(state >> 24);
  }
  const std::size_t overhead = gzip(noise).size() - noise.size();
  for (std::size_t end = kWindow - 2; end <= kWindow + 1; ++end) {
    const Bytes head = words({0x801, static_cast<std::uint32_t>(end)});
    const Bytes member = gzip(head + first(noise, end - overhead - head.size()));
    ASSERT_EQ(member.size(), end);
    const std::size_t left = overhead + head.size();
    const Bytes labels =
        read_idx_labels(folder_.write("labels", member + gzip(first(noise, left))));
    EXPECT_EQ(labels, first(noise, end - left) + first(noise, left));
  }
}

TEST_F(Idx, MissingFile) {
  const auto file = folder_.path() / "nothing";
  EXPECT_EQ(shorten(error_of([&] { read_idx_images(file); }), file),
            "io: FILE: cannot be opened: No such file or directory");
}

TEST_F(Idx, DirectoryInPlaceOfFile) {
  EXPECT_EQ(shorten(error_of([&] { read_idx_images(folder_.path()); }), folder_.path()),
            "io: FILE: is a directory, expected a file");
}

TEST_F(Idx, PipeInPlaceOfFileDoesNotWait) {
  const auto file = folder_.path() / "pipe";
  ASSERT_EQ(mkfifo(file.c_str(), 0600), 0);
  EXPECT_EQ(shorten(error_of([&] { read_idx_images(file); }), file),
            "io: FILE: is no regular file (a pipe or a device has no length to check a header "
            "against)");
}

TEST_F(Idx, UnreadableFile) {
  if (geteuid() == 0) GTEST_SKIP() << "the superuser may read everything";
  const auto file = folder_.write("secret", label_file(3));
  std::filesystem::permissions(file, std::filesystem::perms::none);
  EXPECT_EQ(shorten(error_of([&] { read_idx_labels(file); }), file),
            "io: FILE: cannot be opened: Permission denied");
}

TEST_F(Idx, EmptyFile) {
  EXPECT_EQ(images_error({}), "bad input: FILE: is empty, expected an IDX file of images");
  EXPECT_EQ(labels_error(gzip({})), "bad input: FILE: is empty, expected an IDX file of labels");
}

TEST_F(Idx, EndsInsideTheHeader) {
  EXPECT_EQ(images_error({0}),
            "bad input: FILE: ends at byte 1, inside the header of 16 bytes that an IDX file of "
            "images has");
  EXPECT_EQ(images_error(words({0x803, 5, 4})),
            "bad input: FILE: ends at byte 12, inside the header of 16 bytes that an IDX file of "
            "images has");
  EXPECT_EQ(labels_error(gzip(words({0x801}))),
            "bad input: FILE: ends at byte 4, inside the header of 8 bytes that an IDX file of "
            "labels has");
}

TEST_F(Idx, WrongMagic) {
  EXPECT_EQ(images_error({'P', 'K', 3, 4, 5}),
            "bad input: FILE: magic 0x504b0304 at byte 0, expected 0x00000803 (IDX, images): this "
            "is no IDX file");
  EXPECT_EQ(images_error(label_file(3)),
            "bad input: FILE: magic 0x00000801 at byte 0, expected 0x00000803 (IDX, images): this "
            "is a file of labels");
  EXPECT_EQ(labels_error(gzip(image_file(3, 2, 2))),
            "bad input: FILE: magic 0x00000803 at byte 0, expected 0x00000801 (IDX, labels): this "
            "is a file of images");
}

TEST_F(Idx, WrongElementType) {
  EXPECT_EQ(images_error(words({0xD03, 1, 1, 1, 0})),
            "bad input: FILE: magic 0x00000d03 at byte 0, expected 0x00000803 (IDX, images): only "
            "unsigned bytes, type 0x08, are read");
}

TEST_F(Idx, WrongRank) {
  EXPECT_EQ(images_error(words({0x804, 1, 1, 1, 1, 0})),
            "bad input: FILE: magic 0x00000804 at byte 0, expected 0x00000803 (IDX, images): the "
            "number of dimensions, the last byte, differs");
}

TEST_F(Idx, ZeroDimension) {
  EXPECT_EQ(images_error(words({0x803, 0, 28, 28})),
            "bad input: FILE: the number of images at byte 4 is 0, expected 1 or more");
  EXPECT_EQ(images_error(words({0x803, 5, 28, 0})),
            "bad input: FILE: the number of columns at byte 12 is 0, expected 1 or more");
  EXPECT_EQ(labels_error(words({0x801, 0})),
            "bad input: FILE: the number of labels at byte 4 is 0, expected 1 or more");
}

// 2^22 x 2^21 x 2^21 is 2^64: 0 to who multiplies in 64 bits.
TEST_F(Idx, AbsurdDimensions) {
  EXPECT_EQ(images_error(words({0x803, 1U << 22, 1U << 21, 1U << 21})),
            "bad input: FILE: the header promises 4194304 x 2097152 x 2097152 bytes, more than the "
            "4294967296 (4 GiB) that are read");
  EXPECT_EQ(images_error(words({0x803, 0xffffffff, 0xffffffff, 0xffffffff})),
            "bad input: FILE: the header promises 4294967295 x 4294967295 x 4294967295 bytes, more "
            "than the 4294967296 (4 GiB) that are read");
  EXPECT_EQ(labels_error(gzip(words({0x801, 0xffffffff}))),
            "bad input: FILE: the header promises 4294967295 bytes, more than the 4294967296 (4 "
            "GiB) that are read");
}

TEST_F(Idx, TruncatedPlain) {
  EXPECT_EQ(images_error(first(image_file(5, 4, 3), 75)),
            "bad input: FILE: truncated: its header promises 76 bytes, there are 75");
}

// Just under the cap: refused by the length of the file, before any memory is asked for.
TEST_F(Idx, PromisesMuchAndHoldsLittle) {
  EXPECT_EQ(images_error(words({0x803, 65536, 256, 255}) + ramp(100)),
            "bad input: FILE: truncated: its header promises 4278190096 bytes, there are 116");
  EXPECT_EQ(images_error(gzip(words({0x803, 65536, 256, 255}) + ramp(100))),
            "bad input: FILE: truncated: its header promises 4278190096 bytes, there are 116 when "
            "inflated");
}

TEST_F(Idx, TrailingBytes) {
  EXPECT_EQ(images_error(image_file(5, 4, 3) + ramp(137)),
            "bad input: FILE: 137 trailing bytes: its header promises 76 bytes, expected the end "
            "there");
  EXPECT_EQ(images_error(gzip(image_file(5, 4, 3) + ramp(300000))),
            "bad input: FILE: 300000 trailing bytes: its header promises 76 bytes when inflated, "
            "expected the end there");
  EXPECT_EQ(images_error(gzip(image_file(5, 4, 3)) + gzip(ramp(9))),
            "bad input: FILE: 9 trailing bytes: its header promises 76 bytes when inflated, "
            "expected the end there");
}

TEST_F(Idx, TrailingBytesBehindGzip) {
  const Bytes packed = gzip(label_file(3));
  const std::string size = std::to_string(packed.size());
  EXPECT_EQ(labels_error(packed + Bytes(512, 0)),
            "bad input: FILE: 512 trailing bytes after the gzip data, from byte " + size +
                " on; expected the file to end there");
  EXPECT_EQ(labels_error(packed + Bytes{0x1f}),
            "bad input: FILE: 1 trailing bytes after the gzip data, from byte " + size +
                " on; expected the file to end there");
}

// Cut at every byte: never accepted, whatever part of the gzip format the cut falls into.
TEST_F(Idx, TruncatedGzip) {
  const Bytes packed = gzip(image_file(5, 4, 3));
  for (std::size_t size = 2; size < packed.size(); ++size) {
    EXPECT_EQ(images_error(first(packed, size)),
              "bad input: FILE: gzip data end in member 1 at byte " + std::to_string(size) +
                  ", the end of the file; expected more: is the file truncated?");
  }
  EXPECT_EQ(images_error(first(packed + packed, packed.size() + 12)),
            "bad input: FILE: gzip data end in member 2 at byte " +
                std::to_string(packed.size() + 12) +
                ", the end of the file; expected more: is the file truncated?");
}

TEST_F(Idx, CorruptGzip) {
  const Bytes packed = gzip(image_file(5, 4, 3));
  Bytes checksum = packed;
  checksum.at(packed.size() - 8) ^= 1U;
  EXPECT_EQ(images_error(checksum), "bad input: FILE: corrupt gzip data in member 1 before byte " +
                                        std::to_string(packed.size() - 4) +
                                        " (zlib: incorrect data check); fetch the file again");
  Bytes block = packed;
  block[10] = 0x07;  // the first byte behind the header: last block, of the reserved type 3
  EXPECT_EQ(images_error(block),
            "bad input: FILE: corrupt gzip data in member 1 before byte 11 (zlib: invalid block "
            "type); fetch the file again");
}

// Any byte of a gzip file changed: an error, or the right content (some bytes of the gzip header,
// such as time and system, carry none of it).
TEST_F(Idx, NoCorruptionPassesUnseen) {
  const Bytes packed = gzip(label_file(50));
  const Bytes right = read_idx_labels(folder_.write("labels", packed));
  int refused = 0;
  for (std::size_t at = 0; at < packed.size(); ++at) {
    Bytes broken = packed;
    broken[at] ^= 0x10U;
    const auto file = folder_.write("labels", broken);
    try {
      EXPECT_EQ(read_idx_labels(file), right) << "byte " << at;
    } catch (const Error& error) {
      EXPECT_EQ(error.fault(), Fault::bad_input) << error.what();
      ++refused;
    }
  }
  EXPECT_GE(refused, static_cast<int>(packed.size()) - 7) << "of " << packed.size();
}

}  // namespace
}  // namespace stepscope
