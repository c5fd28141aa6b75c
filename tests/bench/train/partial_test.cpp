// What becomes of rows that fill no batch: counted, and the same numbers from a plan of their own
// as from padding.
// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include <cmath>
#include <cstring>

#include "tests/bench/train/small_runs.h"
#include "tests/support/errors.h"

namespace stepscope {
namespace {

using test::run;
using test::RunResult;
using test::small_data;
using test::small_spec;

std::vector<float> floats(const std::vector<std::byte>& bytes) {
  std::vector<float> values(bytes.size() / sizeof(float));
  std::memcpy(values.data(), bytes.data(), values.size() * sizeof(float));
  return values;
}

void expect_near(const RunResult& a, const RunResult& b) {
  ASSERT_EQ(a.epochs.size(), b.epochs.size());
  for (std::size_t i = 0; i < a.epochs.size(); ++i) {
    EXPECT_NEAR(a.epochs[i].training_loss, b.epochs[i].training_loss, 1e-5);
    EXPECT_NEAR(a.epochs[i].validation_loss, b.epochs[i].validation_loss, 1e-5);
    EXPECT_EQ(a.epochs[i].validation_accuracy, b.epochs[i].validation_accuracy);
  }
  for (const auto& [name, bytes] : a.end) {
    const auto left = floats(bytes);
    const auto right = floats(b.end.at(name));
    if (name.starts_with("control.")) continue;
    for (std::size_t i = 0; i < left.size(); ++i) EXPECT_NEAR(left[i], right[i], 1e-5) << name;
  }
}

TEST(PartialBatches, PaddingGivesTheNumbersOfASecondPlan) {
  const Data data = small_data();  // 40 = 3 * 12 + 4, and 10 to validate
  for (const std::string& backend : test::computing_backends()) {
    for (const Mode mode : {Mode::eager, Mode::planned, Mode::graph}) {
      SCOPED_TRACE(testing::Message() << backend << " " << name(mode));
      TrainSpec spec = small_spec(OptimizerSpec::Kind::momentum);
      spec.mode = mode;
      spec.loss_every = 1;
      spec.batch = 12;
      const RunResult second = run(backend, data, spec);
      spec.partial = PartialBatch::pad_masked;
      expect_near(second, run(backend, data, spec));
      // Validation alone has a partial batch: 10 = 8 + 2.
      spec.batch = 8;
      const RunResult padded = run(backend, data, spec);
      spec.partial = PartialBatch::second_plan;
      expect_near(run(backend, data, spec), padded);
    }
  }
}

TEST(PartialBatches, PaddedModesAreEqualBitForBit) {
  const Data data = small_data();
  for (const std::string& backend : test::computing_backends()) {
    TrainSpec spec = small_spec();
    spec.partial = PartialBatch::pad_masked;
    spec.mode = Mode::eager;
    const RunResult eager = run(backend, data, spec);
    for (const Mode mode : {Mode::planned, Mode::graph}) {
      spec.mode = mode;
      const RunResult other = run(backend, data, spec);
      EXPECT_EQ(eager.end, other.end) << backend << " " << name(mode);
      for (std::size_t i = 0; i < eager.epochs.size(); ++i) {
        EXPECT_EQ(eager.epochs[i].training_loss, other.epochs[i].training_loss);
        EXPECT_EQ(eager.epochs[i].validation_loss, other.epochs[i].validation_loss);
      }
    }
  }
}

TEST(PartialBatches, PaddingNeedsOnePlan) {
  const Data data = small_data();
  TrainSpec spec = small_spec();
  EXPECT_EQ(graphs_of(data, spec).size(), 3U);  // steps of 12 and 4, an evaluation of 10
  spec.partial = PartialBatch::pad_masked;
  EXPECT_EQ(graphs_of(data, spec).size(), 2U);
}

TEST(PartialBatches, RecordsTellWhatWasSeen) {
  const Data data = small_data();
  const struct {
    PartialBatch policy;
    std::int64_t steps, seen, dropped;
  } cases[] = {{PartialBatch::drop, 3, 36, 4},
               {PartialBatch::second_plan, 4, 40, 0},
               {PartialBatch::pad_masked, 4, 40, 0}};
  for (const auto& expected : cases) {
    TrainSpec spec = small_spec();
    spec.partial = expected.policy;
    for (const EpochRecord& epoch : run("reference", data, spec).epochs) {
      EXPECT_EQ(epoch.steps, expected.steps);
      EXPECT_EQ(epoch.samples_seen, expected.seen);
      EXPECT_EQ(epoch.samples_dropped, expected.dropped);
      EXPECT_EQ(epoch.partial_policy, name(expected.policy));
    }
  }
}

TEST(PartialBatches, PaddingIsRefusedWhereARowCannotBeLeftOut) {
  const std::string why = why_not_partial(make_model("chain:3"), 4, PartialBatch::pad_masked);
  EXPECT_TRUE(why.starts_with("pad_masked: no row of model 'chain:3' can be left out: ")) << why;
  EXPECT_EQ(why_not_partial(make_model("chain:3"), 4, PartialBatch::second_plan), "");
  EXPECT_EQ(why_not_partial(make_model("mlp:4-3-2"), 4, PartialBatch::pad_masked), "");
  EXPECT_EQ(why_not_partial(make_model("small_cnn"), 4, PartialBatch::pad_masked), "");
}

TEST(PartialBatches, NothingToValidateOnIsSaid) {
  TrainSpec spec = small_spec();
  spec.batch = 1;
  const std::string why = test::error_of([&] { run("reference", small_data(4), spec); });
  EXPECT_TRUE(why.ends_with(": 4 rows are too few, a fifth of them validates: expected 5 or more"))
      << why;
}

TEST(LoaderWorkers, TrainToTheSameBits) {
  const Data data = small_data();
  for (const PartialBatch policy : {PartialBatch::second_plan, PartialBatch::pad_masked}) {
    TrainSpec spec = small_spec(OptimizerSpec::Kind::adam);
    spec.partial = policy;
    const RunResult alone = run("reference", data, spec);
    for (const int workers : {1, 3}) {
      spec.loader_workers = workers;
      const RunResult other = run("reference", data, spec);
      EXPECT_EQ(alone.end, other.end) << workers;
      EXPECT_EQ(other.epochs.front().loader_workers, workers);
      for (std::size_t i = 0; i < alone.epochs.size(); ++i) {
        EXPECT_EQ(alone.epochs[i].training_loss, other.epochs[i].training_loss);
        EXPECT_EQ(alone.epochs[i].validation_loss, other.epochs[i].validation_loss);
      }
    }
  }
}

}  // namespace
}  // namespace stepscope
