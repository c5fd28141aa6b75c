// The GlyphLab folder: three files that must agree, and what is said where they do not.
// SPDX-License-Identifier: Apache-2.0
#include "bench/data/glyphlab.h"

#include <gtest/gtest.h>

#include <limits>

#include "bench/data/batches.h"
#include "bench/data/load.h"
#include "tests/bench/files/bytes.h"
#include "tests/bench/temp_folder.h"
#include "tests/support/errors.h"

namespace stepscope {
namespace {

using test::elements_of;
using test::error_of;
using test::npy_text;
using test::TempFolder;

std::string npy(std::string_view descr, std::string_view shape, std::string_view data) {
  return npy_text(
      fmt::format("{{'descr': '{}', 'fortran_order': False, 'shape': {}, }}", descr, shape), data);
}

// Six images of 1 x 2 pixels: image i has i and i + 0.5.
std::vector<float> pixels() {
  std::vector<float> list;
  for (int i = 0; i < 6; ++i) {
    list.push_back(static_cast<float>(i));
    list.push_back(static_cast<float>(i) + 0.5F);
  }
  return list;
}

constexpr std::string_view kMetadata =
    "split,index,note\ntest,0,\"a, b\"\ntrain,3,\nval,1,\ntrain,2,\nvalidation,4,\ntrain,5,\n";

class GlyphLabFolder : public testing::Test {
 protected:
  GlyphLabFolder() {
    images(npy("<f4", "(6, 1, 1, 2)", elements_of(pixels())));
    labels(npy("<i8", "(6,)", elements_of<std::int64_t>({0, 1, 2, 0, 1, 2})));
    metadata(kMetadata);
  }
  void images(std::string_view content) { folder_.write("images.npy", content); }
  void labels(std::string_view content) { folder_.write("labels.npy", content); }
  void metadata(std::string_view content) { folder_.write("metadata.csv", content); }
  std::string path(std::string_view name = "") const { return (folder_.path() / name).string(); }
  Data load(std::int64_t classes = 3) const {
    return load_data(folder_.path().string(), {.classes = classes});
  }
  // What is said of one of the files.
  std::string refusal(std::string_view file, std::int64_t classes = 3) const {
    const std::string said = error_of([&] { load(classes); });
    const std::string begin = "bad input: " + path(file) + ": ";
    return said.substr(0, begin.size()) == begin ? said.substr(begin.size()) : said;
  }

  TempFolder folder_;
};

TEST_F(GlyphLabFolder, SplitsByIndex) {
  const Data data = load();
  EXPECT_EQ(data.origin, Origin::files);
  EXPECT_EQ(data.source, folder_.path().string());
  EXPECT_EQ(data.train.count, 5);
  EXPECT_EQ(data.train.values,
            (std::vector<float>{2, 2.5, 3, 3.5, 5, 5.5, 1, 1.5, 4, 4.5}));  // train, then val
  EXPECT_EQ(data.train.labels, (std::vector<std::int32_t>{2, 0, 2, 1, 1}));
  EXPECT_EQ(data.training().count, 3);
  EXPECT_EQ(data.validation().count, 2);
  EXPECT_EQ(data.validation().values[0], 1.0F);
  EXPECT_EQ(data.test.values, (std::vector<float>{0, 0.5}));
}

TEST_F(GlyphLabFolder, BatchesHaveThePixelsAsTheyAre) {
  const Data data = load();
  std::vector<float> x(4);
  std::vector<std::int32_t> labels(2);
  Batcher(data.validation()).fill(std::vector<std::uint32_t>{1, 0}, x, labels);
  EXPECT_EQ(x, (std::vector<float>{4, 4.5, 1, 1.5}));
  EXPECT_EQ(labels, (std::vector<std::int32_t>{1, 1}));
}

TEST_F(GlyphLabFolder, DigestTellsEveryPixel) {
  Data data = load();
  const Digest before = digest(data.train.view());
  data.train.values[3] += 1.0F;
  EXPECT_NE(digest(data.train.view()), before);
}

TEST_F(GlyphLabFolder, FlatImagesAndNarrowLabels) {
  images(npy("<f4", "(6, 2, 1)", elements_of(pixels())));
  labels(npy("<i4", "(6,)", elements_of<std::int32_t>({0, 1, 2, 0, 1, 2})));
  EXPECT_EQ(load().train.rows, 2);
  EXPECT_EQ(load().train.labels[0], 2);
}

TEST_F(GlyphLabFolder, WithoutValTheLastFifthValidates) {
  metadata("index,split\n0,train\n1,train\n2,train\n3,train\n4,train\n5,test\n");
  EXPECT_EQ(load().validation().count, 1);
  EXPECT_EQ(load().training().count, 4);
  metadata("index,split\n0,train\n1,train\n2,train\n3,train\n4,test\n5,test\n");
  EXPECT_EQ(refusal("metadata.csv"),
            "4 rows to train on and none of the split val: give 5 rows, of which the last "
            "validates, or a split val");
}

TEST_F(GlyphLabFolder, WithoutTestItSaysSo) {
  metadata("index,split\n0,train\n1,train\n2,train\n3,train\n4,train\n5,val\n");
  EXPECT_EQ(load().test.count, 0);
  EXPECT_EQ(load().source, folder_.path().string() + " (no rows of the split test)");
}

TEST_F(GlyphLabFolder, AnyLabelsForAModelWithoutClasses) {
  labels(npy("<i8", "(6,)", elements_of<std::int64_t>({0, 1, 2, 0, 1, 700})));
  EXPECT_EQ(load(0).train.classes, 701);
  check_fits(load(0).train, "autoencoder", 2, 0);
}

TEST_F(GlyphLabFolder, ImagesAreChecked) {
  images(npy("<f8", "(6, 1, 2)", elements_of(std::vector<double>(12))));
  EXPECT_EQ(refusal("images.npy"), "holds f64, expected f32");
  images(npy("<f4", "(2, 3, 1, 2)", elements_of(pixels())));
  EXPECT_EQ(refusal("images.npy"), "is {2, 3, 1, 2}, expected {N, 1, H, W} or {N, H, W}");
  images(npy("<f4", "(6, 0, 2)", ""));
  EXPECT_EQ(refusal("images.npy"), "is {6, 0, 2}, expected 1 or more of each");
  std::vector<float> list = pixels();
  list[7] = std::numeric_limits<float>::quiet_NaN();
  images(npy("<f4", "(6, 1, 2)", elements_of(list)));
  EXPECT_EQ(refusal("images.npy"), "pixel 1 of image 3 is nan, expected finite numbers");
  list[7] = -std::numeric_limits<float>::infinity();
  images(npy("<f4", "(6, 1, 2)", elements_of(list)));
  EXPECT_EQ(refusal("images.npy"), "pixel 1 of image 3 is -inf, expected finite numbers");
}

TEST_F(GlyphLabFolder, LabelsAreCheckedBeforeTheyAreNarrowed) {
  constexpr std::int64_t kZeroIn32Bits = std::int64_t{1} << 32;
  labels(npy("<i8", "(6,)", elements_of<std::int64_t>({0, 1, 2, kZeroIn32Bits, 1, 2})));
  EXPECT_EQ(refusal("labels.npy"), "label 3 is 4294967296, expected 0 to 2");
  EXPECT_EQ(refusal("labels.npy", 0), "label 3 is 4294967296, expected 0 to 2147483646");
  labels(npy("<i4", "(6,)", elements_of<std::int32_t>({0, -1, 2, 0, 1, 2})));
  EXPECT_EQ(refusal("labels.npy"), "label 1 is -1, expected 0 to 2");
  labels(npy("<i4", "(5,)", elements_of<std::int32_t>({0, 1, 2, 0, 1})));
  EXPECT_EQ(refusal("labels.npy"), "is {5}, expected {6}: one label for each image");
  labels(npy("<f4", "(6,)", elements_of(std::vector<float>(6))));
  EXPECT_EQ(refusal("labels.npy"), "holds f32, expected i64 or i32");
}

TEST_F(GlyphLabFolder, MetadataIsChecked) {
  const auto said = [&](std::string_view text) {
    metadata(text);
    return refusal("metadata.csv");
  };
  EXPECT_EQ(said("index,part\n"), "line 1: no column 'split'; there are: 'index', 'part'");
  EXPECT_EQ(said("row,split\n"), "line 1: no column 'index'; there are: 'row', 'split'");
  EXPECT_EQ(said("index,split\nx,train\n"), "line 2: index 'x' is no whole number from 0 to 5");
  EXPECT_EQ(said("index,split\n6,train\n"), "line 2: index '6' is no whole number from 0 to 5");
  EXPECT_EQ(said("index,split\n1.0,train\n"), "line 2: index '1.0' is no whole number from 0 to 5");
  EXPECT_EQ(said("index,split\n1,train\n2,val\n1,test\n"),
            "line 4: index 1 has a row already, line 2");
  EXPECT_EQ(said("index,split\n0,train\n1,trian\n"),
            "line 3: unknown split 'trian': did you mean 'train'? (there are: train, val, test)");
  EXPECT_EQ(said("index,split\n0,train\n1,val\n3,test\n"), "3 rows for 6 images: index 2 has none");
  EXPECT_EQ(said("index,split\n0,val\n1,val\n2,val\n3,val\n4,val\n5,test\n"),
            "no row has the split train");
}

TEST_F(GlyphLabFolder, FolderIsWhatLiesInIt) {
  folder_.write("train-images-idx3-ubyte.gz", std::string_view("x"));
  EXPECT_EQ(error_of([&] { load(); }),
            "bad input: " + folder_.path().string() +
                ": holds files of two data sets, train-images-idx3-ubyte and images.npy; expected "
                "one");
  std::filesystem::remove(folder_.path() / "train-images-idx3-ubyte.gz");
  std::filesystem::remove(folder_.path() / "labels.npy");
  EXPECT_EQ(error_of([&] { load(); }), "io: " + folder_.path().string() + ": holds no labels.npy");
  const TempFolder empty;
  EXPECT_EQ(
      error_of([&] { load_data(empty.path().string()); }),
      "io: " + empty.path().string() +
          ": holds no data set: looked for train-images-idx3-ubyte, train-labels-idx1-ubyte, "
          "t10k-images-idx3-ubyte, t10k-labels-idx1-ubyte (each with or without .gz), and for "
          "images.npy, labels.npy, metadata.csv");
}

}  // namespace
}  // namespace stepscope
