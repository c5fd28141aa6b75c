// A run with a schedule of the rate that goes on from a checkpoint goes on in its schedule: the
// count of steps is in the file, and the schedule part of the work.
// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include "ops/models/schedule.h"
#include "tests/bench/temp_folder.h"
#include "tests/bench/train/small_runs.h"
#include "tests/support/errors.h"

namespace stepscope {
namespace {

using test::run;
using test::RunResult;
using test::small_data;
using test::small_spec;

TrainSpec spec_with(OptimizerSpec::Kind kind, std::string_view schedule) {
  TrainSpec spec = small_spec(kind);
  spec.optimizer.schedule = parse_schedule(schedule);
  spec.model = make_model("mlp:16-5-3", spec.optimizer);
  spec.epochs = 2;
  spec.checkpoint_every = 1;
  return spec;
}

RunResult resumed(const std::string& backend, const Data& data, const TrainSpec& spec,
                  const Checkpoint& at) {
  const test::TempFolder folder;
  write_checkpoint(folder.path() / "c", at);
  const Checkpoint from = read_checkpoint(folder.path() / "c");
  return run(backend, data, spec, &from);
}

// Eight steps: the warm-up, most of the cosine, and a checkpoint behind each.
TEST(ScheduledRun, GoesOnInItsSchedule) {
  const Data data = small_data();
  for (const std::string& backend : test::computing_backends()) {
    for (const auto kind : {OptimizerSpec::Kind::sgd, OptimizerSpec::Kind::adam}) {
      for (const Mode mode : {Mode::eager, Mode::graph}) {
        TrainSpec spec = spec_with(kind, "warmup:3,cosine:6:0.1");
        spec.mode = mode;
        const RunResult whole = run(backend, data, spec);
        ASSERT_GE(whole.checkpoints.size(), 8U);
        for (const std::size_t at : {1, 4, 6}) {
          EXPECT_EQ(whole.end, resumed(backend, data, spec, whole.checkpoints[at]).end)
              << backend << ' ' << name(kind) << ' ' << name(mode) << " from " << at;
        }
      }
    }
  }
}

TEST(ScheduledRun, IsOtherWorkThanOneOfAnotherSchedule) {
  const Data data = small_data();
  const TrainSpec spec = spec_with(OptimizerSpec::Kind::sgd, "cosine:6");
  const RunResult whole = run("reference", data, spec);
  EXPECT_NE(whole.end, run("reference", data, spec_with(OptimizerSpec::Kind::sgd, "constant")).end);
  const std::string error = test::error_of([&] {
    (void)resumed("reference", data, spec_with(OptimizerSpec::Kind::sgd, "cosine:7"),
                  whole.checkpoints[2]);
  });
  EXPECT_TRUE(error.starts_with("bad input: ")) << error;
}

}  // namespace
}  // namespace stepscope
