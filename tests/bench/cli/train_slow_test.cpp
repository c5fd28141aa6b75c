// Training that takes minutes: lenet on Fashion-MNIST.
// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include <fmt/format.h>

#include <algorithm>

#include "tests/bench/cli/learning.h"

namespace stepscope::cli {
namespace {

class LenetTraining : public testing::TestWithParam<std::string> {};

// SGD with a rate of 0.05, batches of 32: 1500 steps an epoch.
TEST_P(LenetTraining, LearnsFashionMnist) {
  if (!std::filesystem::exists(kFashionMnistFolder)) {
    GTEST_SKIP() << "no " << kFashionMnistFolder << ": apt-get install dataset-fashion-mnist";
  }
  const auto backend = Registry::builtin().make(GetParam(), {});
  const auto found =
      test::accuracies(*backend, load_data("fashion-mnist"),
                       {.model = make_model("lenet", {.rate = 0.05}),
                        .batch = 32,
                        .epochs = 3,
                        .passes = passes_for(parse_fusion("on"), backend->wishes())});
  fmt::print("{}: {:.4f}\n", GetParam(), fmt::join(found, ", "));
  EXPECT_GE(*std::max_element(found.begin(), found.end()), 0.85);
}

GTEST_ALLOW_UNINSTANTIATED_PARAMETERIZED_TEST(LenetTraining);
INSTANTIATE_TEST_SUITE_P(All, LenetTraining, testing::ValuesIn(test::fast_backends("lenet")),
                         [](const auto& made) { return test::case_name(made.param); });

}  // namespace
}  // namespace stepscope::cli
