// Generated images: the same bytes on every machine, and something to learn in them.
// SPDX-License-Identifier: Apache-2.0
#include "bench/data/generated.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <limits>

#include "tests/support/errors.h"

namespace stepscope {
namespace {

using test::error_of;

// By the same generator, written again in Python. Other values would mean that what every generated
// result was made from has changed.
TEST(Generated, BytesAreFixedBySpec) {
  const GeneratedData data = make_generated({});
  EXPECT_EQ(to_hex(digest(data.train.view())),
            "99da5340e338fad89f2e9f9a61041114fe0f2141dd96a8590686d39761403a9f");
  EXPECT_EQ(to_hex(digest(data.test.view())),
            "96673d9f0d9da34c13545a3295f7c74d88062e370ea42c817b45510baa445013");
}

TEST(Generated, SizesAreThoseAskedFor) {
  const GeneratedData data =
      make_generated({.train = 30, .test = 20, .rows = 24, .columns = 12, .classes = 3});
  EXPECT_EQ(data.train.count, 30);
  EXPECT_EQ(data.test.count, 20);
  EXPECT_EQ(data.train.features(), 24 * 12);
  EXPECT_EQ(data.train.pixels.size(), 30U * 24 * 12);
  EXPECT_EQ(data.test.pixels.size(), 20U * 24 * 12);
  EXPECT_EQ(data.train.labels.size(), 30U);
  EXPECT_EQ(data.train.classes, 3);
  for (const std::int32_t label : data.train.labels) EXPECT_TRUE(label >= 0 && label < 3);
}

TEST(Generated, SeedsAndPartsDiffer) {
  GeneratedSpec spec{.train = 100, .test = 100};
  const GeneratedData one = make_generated(spec);
  EXPECT_NE(digest(one.train.view()), digest(one.test.view()));
  spec.seed = 2;
  EXPECT_NE(digest(make_generated(spec).train.view()), digest(one.train.view()));
}

// An image of one pixel has no distance between grid points to divide by.
TEST(Generated, SmallestImage) {
  const GeneratedData data =
      make_generated({.train = 1, .test = 1, .rows = 1, .columns = 1, .classes = 1});
  EXPECT_EQ(data.train.pixels.size(), 1U);
  EXPECT_EQ(data.train.labels, (std::vector<std::int32_t>{0}));
}

// The share of test images whose nearest class mean (of the training images) is their own class.
double nearest_mean_accuracy(const GeneratedData& data) {
  const auto features = static_cast<std::size_t>(data.train.features());
  const auto classes = static_cast<std::size_t>(data.train.classes);
  std::vector<std::vector<double>> means(classes, std::vector<double>(features));
  std::vector<double> counts(classes);
  for (std::size_t i = 0; i < data.train.labels.size(); ++i) {
    const auto c = static_cast<std::size_t>(data.train.labels[i]);
    counts[c] += 1;
    for (std::size_t p = 0; p < features; ++p) means[c][p] += data.train.pixels[i * features + p];
  }
  std::size_t right = 0;
  for (std::size_t i = 0; i < data.test.labels.size(); ++i) {
    std::size_t best = 0;
    double least = std::numeric_limits<double>::infinity();
    for (std::size_t c = 0; c < classes; ++c) {
      double distance = 0;
      for (std::size_t p = 0; p < features; ++p) {
        const double d = means[c][p] / counts[c] - data.test.pixels[i * features + p];
        distance += d * d;
      }
      if (distance < least) {
        least = distance;
        best = c;
      }
    }
    right += best == static_cast<std::size_t>(data.test.labels[i]) ? 1 : 0;
  }
  return static_cast<double>(right) / static_cast<double>(data.test.labels.size());
}

// Chance would be 0.1. Not all either: else a learning curve would show nothing.
TEST(Generated, ClassesCanBeLearntButNotAtOnce) {
  const double accuracy = nearest_mean_accuracy(make_generated({}));
  EXPECT_GT(accuracy, 0.85);
  EXPECT_LT(accuracy, 0.95);
}

TEST(Generated, SizesThatCannotBe) {
  EXPECT_EQ(error_of([] { make_generated({.classes = 0}); }),
            "bad input: generated data: a size is 0, expected 1 or more");
  constexpr std::int64_t kMost = std::numeric_limits<std::int64_t>::max();
  EXPECT_EQ(error_of([] { make_generated({.rows = kMost, .columns = kMost}); }),
            "bad input: generated data: 6000 + 1000 images of 9223372036854775807 x "
            "9223372036854775807 for 10 classes take more than 4 GiB");
}

}  // namespace
}  // namespace stepscope
