// Pairs of files as one data set: what must agree, views, and the digest anybody can rebuild.
// SPDX-License-Identifier: Apache-2.0
#include "bench/data/dataset.h"

#include <gtest/gtest.h>

#include "tests/bench/data/idx_files.h"
#include "tests/bench/temp_folder.h"
#include "tests/support/errors.h"

namespace stepscope {
namespace {

using test::error_of;
using test::TempFolder;

TEST(Dataset, KeepsBytesAndWidensLabels) {
  TempFolder folder;
  const Dataset data =
      read_dataset(folder.write("i", image_file(4, 2, 3)), folder.write("l", label_file(4, 3)), 3);
  EXPECT_EQ(data.name, (folder.path() / "i").string());
  EXPECT_EQ(data.count, 4);
  EXPECT_EQ(data.rows, 2);
  EXPECT_EQ(data.columns, 3);
  EXPECT_EQ(data.features(), 6);
  EXPECT_EQ(data.classes, 3);
  EXPECT_EQ(data.pixels, ramp(24));
  EXPECT_EQ(data.labels, (std::vector<std::int32_t>{0, 1, 2, 0}));
}

TEST(Dataset, CountsMustAgree) {
  TempFolder folder;
  const auto images = folder.write("i", image_file(5, 2, 2));
  const auto labels = folder.write("l", label_file(4));
  EXPECT_EQ(error_of([&] { read_dataset(images, labels, 10); }),
            "bad input: " + images.string() + " has 5 images, " + labels.string() +
                " has 4 labels; expected as many of both");
}

TEST(Dataset, LabelOutOfRangeIsNamedWithIndexAndValue) {
  TempFolder folder;
  const auto images = folder.write("i", image_file(5, 2, 2));
  const auto labels = folder.write("l", words({0x801, 5}) + Bytes{0, 9, 3, 10, 255});
  EXPECT_EQ(error_of([&] { read_dataset(images, labels, 10); }),
            "bad input: " + labels.string() + ": label 3 is 10, expected 0 to 9");
  EXPECT_EQ(read_dataset(images, labels, 256).labels.back(), 255);
}

Dataset small() {
  return {.name = "small",
          .count = 3,
          .rows = 1,
          .columns = 2,
          .classes = 2,
          .pixels = {1, 2, 3, 4, 5, 6},
          .labels = {0, 1, 0}};
}

TEST(Dataset, ViewBorrowsConsecutiveRows) {
  const Dataset data = small();
  const DatasetView view = data.view(1, 2);
  EXPECT_EQ(view.count, 2);
  EXPECT_EQ(view.features, 2);
  EXPECT_EQ(view.pixels.data(), data.pixels.data() + 2);
  EXPECT_EQ(view.pixels.size(), 4U);
  EXPECT_EQ(view.labels.data(), data.labels.data() + 1);
  EXPECT_EQ(view.labels.size(), 2U);
  EXPECT_EQ(data.view(3, 0).labels.size(), 0U);
  EXPECT_EQ(error_of([&] { data.view(2, 2); }),
            "bad input: small: rows 2 to 4 asked for, there are 3");
}

TEST(Dataset, ModelMustFit) {
  const Dataset data = small();
  check_fits(data, "mlp:2-4-2", 2, 2);
  check_fits(data, "mlp:2-4-5", 2, 5);  // a class that never occurs is no fault
  EXPECT_EQ(error_of([&] { check_fits(data, "mlp:784-10", 784, 10); }),
            "bad input: model 'mlp:784-10' takes rows of 784 numbers, the images of small have 2 "
            "(1 x 2)");
  EXPECT_EQ(error_of([&] { check_fits(data, "mlp:2-1", 2, 1); }),
            "bad input: model 'mlp:2-1' tells 1 classes apart, small has 2");
}

// struct.pack('<QQ', 3, 2) + bytes([1, 2, 3, 4, 5, 6]) + struct.pack('<3i', 0, 1, 0), by hashlib.
TEST(Dataset, DigestIsThatOfTheDocumentedBytes) {
  EXPECT_EQ(to_hex(digest(small().view())),
            "7301c0f4337d976e05f0e017709d358dac8494e8b305b3da8f8350af31f81f68");
}

TEST(Dataset, DigestTellsEveryDifference) {
  const Digest base = digest(small().view());
  Dataset pixel = small();
  pixel.pixels[5] ^= 1U;
  Dataset label = small();
  label.labels[2] = 1;
  Dataset shape = small();  // the same bytes, cut otherwise
  shape.columns = 1;
  shape.count = 6;
  shape.labels = {0, 0, 0, 1, 0, 0};
  EXPECT_NE(digest(pixel.view()), base);
  EXPECT_NE(digest(label.view()), base);
  EXPECT_NE(digest(shape.view()), base);
  EXPECT_NE(digest(small().view(0, 2)), base);
}

}  // namespace
}  // namespace stepscope
