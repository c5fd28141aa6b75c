// Training of small_cnn on generated glyphs: what convolves learns them, what does not cannot.
// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include <fmt/format.h>

#include <algorithm>
#include <numeric>

#include "bench/data/glyphs.h"
#include "tests/bench/cli/learning.h"

namespace stepscope::cli {
namespace {

using test::accuracies;

Data default_glyphs() {
  return load_data("generated",
                   {.classes = kGlyphClasses, .rows = kGlyphSide, .columns = kGlyphSide});
}

// Five times as many images: more to learn from, and 300 to be held against.
Data many_glyphs() {
  GeneratedData made = make_glyphs({.train = 1500});
  return {.origin = Origin::generated,
          .source = "1500 glyphs",
          .train = std::move(made.train),
          .test = std::move(made.test)};
}

// The best that softmax regression on pixels does in any epoch at any of these rates. Chance is a
// third; small_cnn has to reach 0.95 below.
TEST(TrainCnn, ALinearClassifierDoesNotLearnGlyphs) {
  const std::vector<std::string> fast = test::fast_backends("mlp:576-3");
  const auto backend = Registry::builtin().make(fast.empty() ? "reference" : fast.front(), {});
  for (const Data& data : {default_glyphs(), many_glyphs()}) {
    double best = 0.0;
    for (const double rate : {0.001, 0.01, 0.1, 1.0}) {
      const auto found = accuracies(
          *backend, data, {.model = make_model("mlp:576-3", {.rate = rate}), .epochs = 60});
      best = std::max(best, *std::max_element(found.begin(), found.end()));
    }
    fmt::print("{}: a linear classifier reaches {:.3f}\n", data.source, best);
    EXPECT_LE(best, 0.88) << data.source;
    EXPECT_GT(best, 0.2) << data.source << ": it was not trained at all";
  }
}

struct Learner {
  std::string backend;
  std::string fusion;  // for parse_fusion
};

std::vector<Learner> learners() {
  std::vector<Learner> all;
  for (const std::string& backend : test::fast_backends("small_cnn")) {
    for (const std::string fusion : {"off", "on"}) all.push_back({backend, fusion});
  }
  return all;
}

class SmallCnnTraining : public testing::TestWithParam<Learner> {};

// 60 images validate: one of them is 0.017. So five starts, and the mean of the last ten epochs of
// each: kinder to noise than one epoch, and stricter than the best of all.
TEST_P(SmallCnnTraining, LearnsGlyphs) {
  const auto backend = Registry::builtin().make(GetParam().backend, {});
  const Data data = default_glyphs();
  for (const std::uint64_t seed : {1, 2, 3, 4, 5}) {
    const auto found =
        accuracies(*backend, data,
                   {.model = make_model("small_cnn", {.rate = 0.01}),
                    .batch = 32,
                    .epochs = 60,
                    .seed = seed,
                    .passes = passes_for(parse_fusion(GetParam().fusion), backend->wishes())});
    const double mean = std::accumulate(found.end() - 10, found.end(), 0.0) / 10.0;
    const auto first = std::find_if(found.begin(), found.end(), [](double a) { return a >= 0.95; });
    fmt::print("{} seed {}: 0.95 in epoch {}, last ten {:.3f}, last {:.3f}\n", GetParam().backend,
               seed, first - found.begin() + 1, mean, found.back());
    EXPECT_NE(first, found.end()) << "seed " << seed;
    EXPECT_GE(mean, 0.95) << "seed " << seed;
  }
}

GTEST_ALLOW_UNINSTANTIATED_PARAMETERIZED_TEST(SmallCnnTraining);
INSTANTIATE_TEST_SUITE_P(All, SmallCnnTraining, testing::ValuesIn(learners()),
                         [](const auto& made) {
                           return test::case_name(made.param.backend) +
                                  (made.param.fusion == "on" ? "_fused" : "");
                         });

}  // namespace
}  // namespace stepscope::cli
