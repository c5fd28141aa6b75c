// Submissions by activity: stories that a total cannot tell apart.
// SPDX-License-Identifier: Apache-2.0
#include "bench/train/submissions.h"

#include <gtest/gtest.h>

#include "tests/bench/train/small_runs.h"

namespace stepscope {
namespace {

using test::run;
using test::small_data;
using test::small_spec;

SubmissionRecord counted(const std::string& activity, std::int64_t replays) {
  SubmissionCount count(activity);
  for (std::int64_t i = 0; i < replays; ++i) count.add({.steps = 1, .replays = 1});
  return count.record();
}

// 1,500 training steps and 375 validation batches, or 1,875 training steps, which is also
// 60,000 / 32.
TEST(Submissions, R_CNT_1_TwoStoriesOfOneTotalAreTwoRecords) {
  const std::vector<SubmissionRecord> both = {counted("training", 1500),
                                              counted("validation", 375)};
  const std::vector<SubmissionRecord> one = {counted("training", 1875), counted("validation", 0)};
  EXPECT_EQ(both[0].submissions + both[1].submissions, one[0].submissions + one[1].submissions);
  EXPECT_EQ(both[0].steps, 1500);
  EXPECT_EQ(both[0].graph_launches, 1500);
  EXPECT_EQ(both[1].steps, 375);
  EXPECT_EQ(one[0].steps, 1875);
  EXPECT_EQ(one[1].steps, 0);
  EXPECT_EQ(one[1].submissions, 0);
  for (const SubmissionRecord& record : {both[0], both[1], one[0]}) {
    EXPECT_EQ(record.least, 1);
    EXPECT_EQ(record.median, 1.0);
    EXPECT_EQ(record.most, 1);
  }
}

TEST(Submissions, R_CNT_1_LeastMedianAndMostOfAStep) {
  SubmissionCount count("training");
  for (const std::uint64_t launches : {14U, 9U, 14U, 20U, 14U, 9U}) {
    count.add({.steps = 1, .submitted = launches});
  }
  SubmissionRecord record = count.record();
  EXPECT_EQ(record.steps, 6);
  EXPECT_EQ(record.submissions, 80);
  EXPECT_EQ(record.graph_launches, 0);
  EXPECT_EQ(record.least, 9);
  EXPECT_EQ(record.median, 14.0);
  EXPECT_EQ(record.most, 20);
  count.add({.steps = 1, .submitted = 20});
  count.add({.steps = 1, .submitted = 21});
  count.add({.steps = 1, .submitted = 22});
  count.add({.steps = 1, .submitted = 23});
  EXPECT_EQ(count.record().median, 17.0);  // 9 9 14 14 14 | 20 20 21 22 23
}

struct Expected {
  std::string activity;
  std::int64_t steps;
};

// 40 rows to train in batches of 12, the last of 4, and 10 to validate: one batch. Three epochs.
TEST(Submissions, R_CNT_1_AGraphIsLaunchedOncePerStepAndPerValidationBatch) {
  TrainSpec spec = small_spec();
  spec.mode = Mode::graph;
  const test::RunResult result = run("reference", small_data(), spec);
  EXPECT_EQ(result.mode_executed, "graph");
  const std::vector<Expected> expected = {{"training", 12}, {"validation", 3}, {"warm_up", 3}};
  ASSERT_EQ(result.submissions.size(), expected.size());
  for (std::size_t i = 0; i < expected.size(); ++i) {
    const SubmissionRecord& record = result.submissions[i];
    SCOPED_TRACE(expected[i].activity);
    EXPECT_EQ(record.activity, expected[i].activity);
    EXPECT_EQ(record.steps, expected[i].steps);
    EXPECT_EQ(record.submissions, expected[i].steps);
    EXPECT_EQ(record.graph_launches, expected[i].steps);
    EXPECT_EQ(record.least, 1);
    EXPECT_EQ(record.median, 1.0);
    EXPECT_EQ(record.most, 1);
  }
}

TEST(Submissions, R_CNT_1_EagerSubmitsEachOp) {
  TrainSpec spec = small_spec();
  spec.mode = Mode::eager;
  const Data data = small_data();
  const test::RunResult result = run("reference", data, spec);
  EXPECT_EQ(result.mode_executed, "eager");
  const std::vector<Graph> graphs = graphs_of(data, spec);  // two steps, one evaluation
  const auto ops =
      static_cast<std::int64_t>(run_passes(graphs.front(), spec.passes).graph.ops().size());
  const auto evaluation =
      static_cast<std::int64_t>(run_passes(graphs.back(), spec.passes).graph.ops().size());
  const SubmissionRecord& training = result.submissions.at(0);
  EXPECT_EQ(training.submissions, 12 * ops);
  EXPECT_EQ(training.graph_launches, 0);
  EXPECT_EQ(training.median, static_cast<double>(ops));
  const SubmissionRecord& validation = result.submissions.at(1);
  EXPECT_EQ(validation.submissions, 3 * evaluation);
  EXPECT_LT(validation.most, training.least);
  const SubmissionRecord& warm_up = result.submissions.at(2);
  EXPECT_EQ(warm_up.submissions, 2 * ops + evaluation);
  EXPECT_EQ(warm_up.least, evaluation);
  EXPECT_EQ(warm_up.most, ops);
}

// Those of this run alone: what was trained before is not submitted again.
TEST(Submissions, AResumedRunCountsItsOwn) {
  TrainSpec spec = small_spec();
  spec.epochs = 1;
  const test::RunResult first = run("reference", small_data(), spec);
  spec.epochs = 3;
  const test::RunResult rest = run("reference", small_data(), spec, &first.checkpoints.back());
  EXPECT_EQ(rest.epochs.size(), 3U);
  EXPECT_EQ(rest.submissions.at(0).steps, 8);
  EXPECT_EQ(rest.submissions.at(1).steps, 2);
  const test::RunResult none = run("reference", small_data(), spec, &rest.checkpoints.back());
  EXPECT_EQ(none.submissions.at(0).steps, 0);
  EXPECT_EQ(none.mode_executed, "");
}

// The numbers of an epoch at each policy, as its record has them.
TEST(Epochs, R_EQU_5_StepsSamplesAndPolicyAreRecorded) {
  struct Row {
    PartialBatch policy;
    std::int64_t steps, seen, dropped;
  };
  for (const Row& row :
       {Row{PartialBatch::drop, 3, 36, 4}, Row{PartialBatch::second_plan, 4, 40, 0},
        Row{PartialBatch::pad_masked, 4, 40, 0}}) {
    SCOPED_TRACE(name(row.policy));
    TrainSpec spec = small_spec();
    spec.partial = row.policy;
    const test::RunResult result = run("reference", small_data(), spec);
    for (const EpochRecord& epoch : result.epochs) {
      EXPECT_EQ(epoch.steps, row.steps);
      EXPECT_EQ(epoch.samples_seen, row.seen);
      EXPECT_EQ(epoch.samples_dropped, row.dropped);
      EXPECT_EQ(epoch.partial_policy, name(row.policy));
    }
    EXPECT_EQ(result.submissions.front().steps, 3 * row.steps);
  }
}

}  // namespace
}  // namespace stepscope
