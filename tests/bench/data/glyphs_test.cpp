// Generated glyphs: the same bytes on every machine, fair classes, and nothing to see in a pixel.
// What trains on them is tested with the training loop (tests/bench/cli).
// SPDX-License-Identifier: Apache-2.0
#include "bench/data/glyphs.h"

#include <gtest/gtest.h>

#include <array>
#include <cmath>

#include "tests/support/errors.h"

namespace stepscope {
namespace {

using test::error_of;

// By the same generator, written again in Python. Other values would mean that what every generated
// result was made from has changed.
TEST(Glyphs, BytesAreFixedBySpec) {
  const GeneratedData data = make_glyphs({});
  EXPECT_EQ(to_hex(digest(data.train.view())),
            "0b23a37044fc163cd2f5067ff6682324f1d3670383d06f889e9f2d370cd2322a");
  EXPECT_EQ(to_hex(digest(data.test.view())),
            "88eec0a373b156c657c9a9a95a4546226b397b7fc428fb5822f868eb29efba41");
}

TEST(Glyphs, SizesAreThoseAskedFor) {
  const GeneratedData data = make_glyphs({.train = 7, .test = 5});
  EXPECT_EQ(data.train.count, 7);
  EXPECT_EQ(data.test.count, 5);
  EXPECT_EQ(data.train.features(), 24 * 24);
  EXPECT_EQ(data.train.pixels.size(), 7U * 24 * 24);
  EXPECT_EQ(data.test.labels.size(), 5U);
  EXPECT_EQ(data.train.classes, 3);
}

TEST(Glyphs, SeedsAndPartsDiffer) {
  const GeneratedData one = make_glyphs({.train = 60, .test = 60});
  EXPECT_NE(digest(one.train.view()), digest(one.test.view()));
  EXPECT_NE(digest(make_glyphs({.seed = 2, .train = 60}).train.view()), digest(one.train.view()));
}

// Mean and deviation of the labels' counts and of the pixels, per class.
struct Moments {
  std::array<double, kGlyphClasses> share{};  // of the images
  // Largest distance of a class's mean picture from the mean of all, in grey levels.
  double most_apart = 0.0;
};

Moments moments_of(const Dataset& data) {
  const auto features = static_cast<std::size_t>(data.features());
  std::array<std::vector<double>, kGlyphClasses> sums;
  sums.fill(std::vector<double>(features));
  std::vector<double> all(features);
  Moments made;
  for (std::size_t i = 0; i < data.labels.size(); ++i) {
    const auto label = static_cast<std::size_t>(data.labels[i]);
    made.share[label] += 1.0 / static_cast<double>(data.count);
    for (std::size_t p = 0; p < features; ++p) {
      sums[label][p] += data.pixels[i * features + p];
      all[p] += data.pixels[i * features + p];
    }
  }
  const auto count = static_cast<double>(data.count);
  for (std::size_t c = 0; c < sums.size(); ++c) {
    for (std::size_t p = 0; p < features; ++p) {
      const double apart = sums[c][p] / (made.share[c] * count) - all[p] / count;
      made.most_apart = std::max(made.most_apart, std::abs(apart));
    }
  }
  return made;
}

// Six standard errors of a class's mean: a pixel has a deviation of 80 levels at most, and a class
// a third of 6000 images; with three classes and 576 pixels even the largest stays below.
TEST(Glyphs, ClassesAreEvenAndTheirMeanPicturesAlike) {
  const Moments found = moments_of(make_glyphs({.train = 6000}).train);
  for (const double share : found.share) EXPECT_NEAR(share, 1.0 / 3.0, 0.03);
  EXPECT_LT(found.most_apart, 6.0 * 80.0 / std::sqrt(2000.0));
}

TEST(Glyphs, SizesThatCannotBe) {
  EXPECT_EQ(error_of([] { make_glyphs({.test = 0}); }),
            "bad input: generated glyphs: 0 images asked for, expected 1 to 7456540");
  EXPECT_EQ(error_of([] { make_glyphs({.train = 7456541}); }),
            "bad input: generated glyphs: 7456541 images asked for, expected 1 to 7456540");
}

}  // namespace
}  // namespace stepscope
