// Training: the same numbers on two backends at first, and a net that learns Fashion-MNIST.
// SPDX-License-Identifier: Apache-2.0
#include "bench/train/train.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

#include "backends/registry/registry.h"
#include "ops/base/error.h"
#include "tests/support/errors.h"

namespace stepscope::cli {
namespace {

bool has_backend(const std::string& backend) {
  const std::vector<std::string> names = Registry::builtin().names();
  return std::find(names.begin(), names.end(), backend) != names.end();
}

// Debian's package dataset-fashion-mnist, which `./dev` installs.
bool has_fashion_mnist() { return std::filesystem::exists(kFashionMnistFolder); }

std::vector<double> losses_of(const std::string& backend, const Data& data, std::int64_t steps) {
  std::vector<double> losses;
  TrainHooks hooks;
  hooks.loss = [&](std::int64_t, double loss) { losses.push_back(loss); };
  const auto made = Registry::builtin().make(backend, {});
  train(*made, data,
        {.model = make_model("mlp"),
         .mode = Mode::planned,
         .epochs = 1,
         .most_steps = steps,
         .loss_every = 1},
        hooks);
  return losses;
}

TEST(Train, EigenFollowsTheReferenceForFiftySteps) {
  if (!has_backend("eigen")) GTEST_SKIP() << "this build has no eigen backend";
  const Data data = load_data(has_fashion_mnist() ? "fashion-mnist" : "generated");
  const std::vector<double> eigen = losses_of("eigen", data, 50);
  const std::vector<double> reference = losses_of("reference", data, 50);
  ASSERT_EQ(eigen.size(), 50U);
  for (std::size_t i = 0; i < eigen.size(); ++i) {
    EXPECT_LE(std::abs(eigen[i] - reference[i]), 1e-5 * std::abs(reference[i])) << "step " << i;
  }
}

TEST(Train, LearnsFashionMnist) {
  if (!has_backend("eigen")) GTEST_SKIP() << "this build has no eigen backend";
  if (!has_fashion_mnist()) GTEST_SKIP() << "no " << kFashionMnistFolder;
  const Data data = load_data("fashion-mnist");
  const auto eigen = Registry::builtin().make("eigen", {});
  double sum = 0.0;
  for (const std::uint64_t seed : {1, 2, 3}) {
    const auto epochs =
        train(*eigen, data, {.model = make_model("mlp"), .batch = 32, .epochs = 5, .seed = seed},
              {})
            .epochs;
    double best = 0.0;
    for (const EpochRecord& epoch : epochs) {
      EXPECT_EQ(epoch.steps, 1500);
      EXPECT_EQ(epoch.samples_dropped, 0);
      if (epoch.epoch > 2) best = std::max(best, epoch.validation_accuracy.value());
    }
    RecordProperty("best_of_last_3_seed_" + std::to_string(seed), std::to_string(best));
    sum += best;
  }
  EXPECT_GE(sum / 3.0, 0.85);
}

TEST(Train, PartialBatchesFollowThePolicy) {
  const Data data = load_data("generated");  // 4,800 rows to train, 1,200 to validate
  const auto reference = Registry::builtin().make("reference", {});
  TrainSpec spec{.model = make_model("mlp:784-4-10"), .batch = 1000, .epochs = 1};
  const EpochRecord with = train(*reference, data, spec, {}).epochs.front();
  EXPECT_EQ(with.steps, 5);
  EXPECT_EQ(with.samples_seen, 4800);
  spec.partial = PartialBatch::drop;
  const EpochRecord without = train(*reference, data, spec, {}).epochs.front();
  EXPECT_EQ(without.steps, 4);
  EXPECT_EQ(without.samples_seen, 4000);
  EXPECT_EQ(without.samples_dropped, 800);
}

TEST(Train, RefusesWhatCannotBeTrained) {
  const Data data = load_data("generated");
  const auto null = Registry::builtin().make("null", {});
  const auto reference = Registry::builtin().make("reference", {});
  EXPECT_EQ(test::error_of([&] { train(*null, data, {.model = make_model("mlp")}, {}); }),
            "unsupported: backend 'null' computes nothing, it cannot train");
  EXPECT_EQ(test::error_of([&] { train(*reference, data, {.model = make_model("chain:3")}, {}); }),
            "bad input: model 'chain:3' has no loss, it cannot be trained");
}

}  // namespace
}  // namespace stepscope::cli
