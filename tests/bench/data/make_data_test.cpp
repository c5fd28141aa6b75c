// Generated data as files: equal seeds give equal bytes, and what is read back says it is
// generated.
// SPDX-License-Identifier: Apache-2.0
#include "bench/data/make_data.h"

#include <gtest/gtest.h>

#include "bench/data/load.h"
#include "bench/data/sha256.h"
#include "bench/files/files.h"
#include "tests/bench/temp_folder.h"
#include "tests/support/errors.h"

namespace stepscope {
namespace {

using test::error_of;
using test::TempFolder;

std::string digest_of(const std::vector<std::filesystem::path>& files) {
  Sha256 hash;
  for (const std::filesystem::path& file : files) {
    hash.update(std::span<const std::uint8_t>(read_bytes(file)));
  }
  return to_hex(hash.finish());
}

std::string made(std::uint64_t seed, DataShape shape) {
  const TempFolder folder;
  return digest_of(make_data(folder.path() / "set", {.shape = shape, .seed = seed, .images = 42}));
}

TEST(MakeData, EqualSeedsGiveEqualBytes) {
  for (const DataShape shape : {DataShape::glyphs, DataShape::mnist}) {
    EXPECT_EQ(made(3, shape), made(3, shape));
    EXPECT_NE(made(3, shape), made(4, shape));
  }
}

TEST(MakeData, GlyphsReadBackAreThoseOfGenerated) {
  const TempFolder folder;
  const auto files = make_data(folder.path(), {.seed = 1});
  EXPECT_EQ(files.size(), 3U);
  const Data data = load_data(folder.path().string(), {.classes = 3});
  EXPECT_EQ(data.origin, Origin::generated);
  EXPECT_EQ(data.source, folder.path().string() + ": generated (seed 1)");
  EXPECT_EQ(data.training().count, 240);
  EXPECT_EQ(data.validation().count, 60);
  EXPECT_EQ(data.test.count, 60);
  const Data same = load_data("generated", {.classes = 3, .rows = 24, .columns = 24});
  EXPECT_EQ(data.train.labels, same.train.labels);
  for (std::size_t i = 0; i < same.train.pixels.size(); ++i) {
    ASSERT_EQ(data.train.values[i], static_cast<float>(same.train.pixels[i]) / 255.0F) << i;
  }
  EXPECT_EQ(read_file(files[2]).substr(0, 55),
            fmt::format("index,split,label,source\n0,train,{},generated (seed 1)\n1,",
                        same.train.labels[0])
                .substr(0, 55));
}

TEST(MakeData, MnistReadBackIsThatOfGenerated) {
  const TempFolder folder;
  make_data(folder.path(), {.shape = DataShape::mnist, .seed = 2});
  const Data data = load_data(folder.path().string());
  EXPECT_EQ(data.origin, Origin::generated);
  EXPECT_EQ(data.source, folder.path().string() + ": generated (seed 2)");
  const Data same = load_data("generated:2");
  EXPECT_EQ(same.source, "generated (seed 2, 6000 + 1000 images of 28 x 28, 10 classes)");
  EXPECT_EQ(digest(data.train.view()), digest(same.train.view()));
  EXPECT_EQ(digest(data.test.view()), digest(same.test.view()));
}

TEST(MakeData, SeedsOfGenerated) {
  const DataOptions glyphs{.classes = 3, .rows = 24, .columns = 24};
  EXPECT_EQ(load_data("generated:1", glyphs).train.pixels,
            load_data("generated", glyphs).train.pixels);
  EXPECT_NE(load_data("generated:2", glyphs).train.pixels,
            load_data("generated", glyphs).train.pixels);
  EXPECT_EQ(error_of([] { load_data("generated:x"); }),
            "bad input: data 'generated:x': 'x' is no seed, a whole number below 2^64, as in "
            "generated:2");
  EXPECT_EQ(error_of([] { load_data("generated:"); }),
            "bad input: data 'generated:': '' is no seed, a whole number below 2^64, as in "
            "generated:2");
}

TEST(MakeData, WritesOverNothing) {
  const TempFolder folder;
  const auto there = folder.write("labels.npy", std::string_view("mine"));
  EXPECT_EQ(
      error_of([&] { make_data(folder.path(), {}); }),
      "io: " + there.string() + ": lies there already, it is left as it is: give another folder");
  EXPECT_EQ(read_file(there), "mine");
  EXPECT_FALSE(std::filesystem::exists(folder.path() / "images.npy"));
}

// Asked before each image and each file: whenever it says stop, nothing is left.
TEST(MakeData, StoppedAtAnyMomentTakesBackWhatItWrote) {
  for (const DataShape shape : {DataShape::glyphs, DataShape::mnist}) {
    const TempFolder folder;
    const int files = shape == DataShape::glyphs ? 3 : 5;
    const int questions = 7 + files;
    for (int last = 0; last <= questions; ++last) {
      const auto set = folder.path() / "set";
      int asked = 0;
      bool stopped = false;
      try {
        make_data(set, {.shape = shape, .images = 7}, [&] { return asked++ == last; });
      } catch (const MakingStopped&) {
        stopped = true;
      }
      EXPECT_EQ(stopped, last < questions) << last;
      EXPECT_EQ(std::filesystem::exists(set), last == questions) << last;
    }
  }
}

TEST(MakeData, StoppedLeavesTheFolderAndWhatWasInIt) {
  const TempFolder folder;
  const auto mine = folder.write("mine", std::string_view("x"));
  int asked = 0;
  EXPECT_THROW(make_data(folder.path(), {.shape = DataShape::mnist, .images = 7},
                         [&] { return ++asked > 9; }),
               MakingStopped);
  const auto entries = std::filesystem::directory_iterator(folder.path());
  EXPECT_EQ(std::distance(begin(entries), end(entries)), 1);
  EXPECT_TRUE(std::filesystem::exists(mine));
}

TEST(MakeData, TheLabelOfMnistStandsThereBeforeAnyImage) {
  const TempFolder folder;
  const auto files = make_data(folder.path(), {.shape = DataShape::mnist, .images = 7});
  ASSERT_EQ(files.size(), 5U);
  EXPECT_EQ(files[0].filename(), kReadme);
  // Of glyphs no part can be read before the file with the labels is there.
  EXPECT_EQ(make_data(folder.path() / "glyphs", {.images = 7}).back().filename(), "metadata.csv");
}

TEST(MakeData, RefusesNumbersAndShapes) {
  const TempFolder folder;
  EXPECT_EQ(error_of([&] { make_data(folder.path(), {.images = 6}); }),
            "bad input: generated data: 6 images asked for, expected 7 to 1000000");
  EXPECT_EQ(error_of([] { parse_data_shape("glyph"); }),
            "bad input: unknown shape of data 'glyph': did you mean 'glyphs'? (there are: glyphs, "
            "mnist)");
}

}  // namespace
}  // namespace stepscope
