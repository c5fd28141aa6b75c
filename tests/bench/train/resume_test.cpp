// A run that goes on from a checkpoint ends bit for bit as one that was never stopped.
// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include <memory>

#include "backends/api/host.h"
#include "tests/bench/temp_folder.h"
#include "tests/bench/train/small_runs.h"
#include "tests/support/errors.h"

namespace stepscope {
namespace {

using test::error_of;
using test::run;
using test::RunResult;
using test::small_data;
using test::small_spec;

void expect_same(const RunResult& a, const RunResult& b) {
  EXPECT_EQ(a.end, b.end);
  ASSERT_EQ(a.epochs.size(), b.epochs.size());
  for (std::size_t i = 0; i < a.epochs.size(); ++i) {
    EXPECT_EQ(a.epochs[i].epoch, b.epochs[i].epoch);
    EXPECT_EQ(a.epochs[i].training_loss, b.epochs[i].training_loss);
    EXPECT_EQ(a.epochs[i].validation_loss, b.epochs[i].validation_loss);
    EXPECT_EQ(a.epochs[i].validation_accuracy, b.epochs[i].validation_accuracy);
    EXPECT_EQ(a.epochs[i].steps, b.epochs[i].steps);
    EXPECT_EQ(a.epochs[i].samples_seen, b.epochs[i].samples_seen);
    EXPECT_EQ(a.epochs[i].samples_dropped, b.epochs[i].samples_dropped);
  }
}

// Through the file, as a user would.
RunResult resumed(const std::string& backend, const Data& data, const TrainSpec& spec,
                  const Checkpoint& at) {
  const test::TempFolder folder;
  write_checkpoint(folder.path() / "c", at);
  const Checkpoint from = read_checkpoint(folder.path() / "c");
  return run(backend, data, spec, &from);
}

struct ResumeCase {
  std::string backend;
  OptimizerSpec::Kind optimizer;
  Mode mode;
  PartialBatch partial;
  std::string fusion;
};

std::vector<ResumeCase> resume_cases() {
  using Kind = OptimizerSpec::Kind;
  std::vector<ResumeCase> cases;
  for (const std::string& backend : test::computing_backends()) {
    for (const Kind kind : {Kind::sgd, Kind::momentum, Kind::adam}) {
      for (const Mode mode : {Mode::eager, Mode::planned, Mode::graph}) {
        for (const PartialBatch partial :
             {PartialBatch::drop, PartialBatch::second_plan, PartialBatch::pad_masked}) {
          cases.push_back({backend, kind, mode, partial, "off"});
        }
        cases.push_back({backend, kind, mode, PartialBatch::second_plan, "on"});
      }
    }
  }
  return cases;
}

TEST(Resume, IsTheUninterruptedRunBitForBit) {
  const Data data = small_data();
  for (const ResumeCase& c : resume_cases()) {
    SCOPED_TRACE(testing::Message() << c.backend << " " << name(c.optimizer) << " " << name(c.mode)
                                    << " " << name(c.partial) << " fusion " << c.fusion);
    TrainSpec spec = small_spec(c.optimizer);
    spec.mode = c.mode;
    spec.partial = c.partial;
    spec.epochs = 2;
    const auto backend = Registry::builtin().make(c.backend, {});
    spec.passes = passes_for(parse_fusion(c.fusion), backend->wishes());
    spec.checkpoint_every = 1;
    const RunResult whole = run(c.backend, data, spec);
    const std::size_t steps = c.partial == PartialBatch::drop ? 3 : 4;
    ASSERT_EQ(whole.checkpoints.size(), 2 * steps + 1);
    // In the middle of an epoch, before a validation, and in the middle of the second epoch.
    for (const std::size_t at : {std::size_t{0}, steps - 1, steps + 1}) {
      expect_same(whole, resumed(c.backend, data, spec, whole.checkpoints[at]));
    }
    spec.checkpoint_every = 0;  // at the end of an epoch
    const RunResult epochs = run(c.backend, data, spec);
    ASSERT_EQ(epochs.checkpoints.size(), 2U);
    expect_same(whole, epochs);
    expect_same(whole, resumed(c.backend, data, spec, epochs.checkpoints.front()));
    if (testing::Test::HasFailure()) return;
  }
}

TEST(Resume, ANetOfConvolutionsGoesOnToo) {
  GeneratedData made =
      make_generated({.train = 30, .test = 2, .rows = 24, .columns = 24, .classes = 3});
  const Data data{.source = "images", .train = std::move(made.train), .test = std::move(made.test)};
  const OptimizerSpec optimizer{.kind = OptimizerSpec::Kind::adam, .rate = 0.01};
  for (const std::string& backend : test::computing_backends()) {
    const auto made_backend = Registry::builtin().make(backend, {});
    TrainSpec spec = small_spec();
    spec.model = make_model("small_cnn", optimizer);
    spec.optimizer = optimizer;
    spec.batch = 7;
    spec.epochs = 2;
    spec.mode = Mode::graph;
    spec.passes = passes_for(parse_fusion("on"), made_backend->wishes());
    spec.checkpoint_every = 3;
    const RunResult whole = run(backend, data, spec);
    ASSERT_EQ(whole.checkpoints.size(), 3U);  // steps 3 and 6 of 8, and the end
    expect_same(whole, resumed(backend, data, spec, whole.checkpoints[0]));
    expect_same(whole, resumed(backend, data, spec, whole.checkpoints[1]));
  }
}

TEST(Resume, AResumedRunMayHaveMoreEpochsAndOtherWorkers) {
  const Data data = small_data();
  TrainSpec spec = small_spec();
  spec.epochs = 1;
  const RunResult first = run("reference", data, spec);
  spec.epochs = 3;
  const RunResult whole = run("reference", data, spec);
  spec.loader_workers = 2;
  expect_same(whole, resumed("reference", data, spec, first.checkpoints.back()));
}

// Stopped at each of its steps and validations in turn: the pieces make the whole.
TEST(Resume, AStoppedRunLeavesACheckpointToGoOnFrom) {
  const Data data = small_data();
  TrainSpec spec = small_spec(OptimizerSpec::Kind::momentum);
  const RunResult whole = run("reference", data, spec);
  spec.loader_workers = 2;  // who are in the middle of something when it stops
  const auto backend = Registry::builtin().make("reference", {});
  std::optional<Checkpoint> at;
  RunResult end;
  int pieces = 0;
  for (bool stopped = true; stopped; ++pieces) {
    ASSERT_LT(pieces, 40);
    stopped = false;
    int asked = 0;
    TrainHooks hooks;
    hooks.checkpoint = [&](const Checkpoint& made) { at = made; };
    hooks.stop = [&] { return ++asked == 4; };
    hooks.finished = [&](Session& session) { end.end = session.parameters_and_states(); };
    const std::optional<Checkpoint> from = at;
    try {
      end.epochs = train(*backend, data, spec, hooks, from ? &*from : nullptr).epochs;
    } catch (const TrainingStopped& error) {
      stopped = true;
      EXPECT_EQ(std::string(error.what()),
                fmt::format("interrupted at epoch {}, step {}", at->epoch + 1, at->batches));
    }
  }
  EXPECT_GT(pieces, 3);
  expect_same(whole, end);
}

TEST(Resume, OtherWorkIsRefusedAndNamed) {
  const Data data = small_data();
  TrainSpec spec = small_spec();
  const Checkpoint at = run("reference", data, spec).checkpoints.front();
  spec.seed = 2;
  spec.batch = 10;
  const std::string why = error_of([&] { run("reference", data, spec, &at); });
  EXPECT_TRUE(
      why.starts_with("bad input: checkpoint: is one of other work: batch is 12 there, 10 "
                      "here; model_text is "))
      << why;
  EXPECT_TRUE(why.ends_with("; seed is 1 there, 2 here")) << why;
}

TEST(Resume, ParametersThatStartElsewhereAreOtherWork) {
  const Data data = small_data();
  TrainSpec spec = small_spec();
  const Facts before = work_of(data, spec);
  EXPECT_TRUE(differences(before, work_of(data, spec)).empty());
  Initial& first = spec.model.initial.front();
  first.kind = Initial::Kind::values;
  first.values = std::make_shared<const std::vector<double>>(80, 0.5);
  const auto weights = work_of(data, spec);
  ASSERT_EQ(differences(before, weights).size(), 1U);
  EXPECT_TRUE(differences(before, weights).front().starts_with("initial is "));
  first.values = std::make_shared<const std::vector<double>>(80, 0.25);
  EXPECT_EQ(differences(weights, work_of(data, spec)).size(), 1U);
}

TEST(Resume, Tf32IsOtherWork) {
  const Data data = small_data();
  TrainSpec spec = small_spec();
  const Facts before = work_of(data, spec);
  const Checkpoint at = run("reference", data, spec).checkpoints.front();
  spec.tf32 = true;
  EXPECT_EQ(differences(before, work_of(data, spec)),
            (std::vector<std::string>{"tf32 is none there, on here"}));
  EXPECT_EQ(error_of([&] { run("reference", data, spec, &at); }),
            "bad input: checkpoint: is one of other work: tf32 is none there, on here");
}

// A backend with the details that it is told.
class Detailed final : public HostBackend {
 public:
  explicit Detailed(std::vector<std::pair<std::string, std::string>> details)
      : HostBackend({.name = "detailed", .device = "none", .details = std::move(details)}) {}
};

TEST(Resume, OnlyTheDetailThatDiffersIsNamed) {
  const TrainSpec spec = small_spec();
  const auto conditions = [&](const char* driver, const char* as, const char* clock) {
    return conditions_of(Detailed({{"CUDA driver", driver},
                                   {"cublasLt", "13.0"},
                                   {"record as", as},
                                   {"clock rate", clock},
                                   {"memory clock rate", clock}}),
                         spec);
  };
  const Facts before = conditions("13.0", "capture", "1 MHz");
  EXPECT_TRUE(differences(before, conditions("13.0", "nodes", "2 MHz")).empty());
  EXPECT_EQ(differences(before, conditions("13.1", "nodes", "2 MHz")),
            (std::vector<std::string>{"CUDA driver is 13.0 there, 13.1 here"}));
}

TEST(Resume, AnotherRateIsNamedAlone) {
  const Data data = small_data();
  TrainSpec spec = small_spec();
  const Facts before = work_of(data, spec);
  spec.optimizer.rate = 0.5;
  spec.model = make_model("mlp:16-5-3", spec.optimizer);
  EXPECT_EQ(differences(before, work_of(data, spec)),
            (std::vector<std::string>{"rate is 0.05 there, 0.5 here"}));
}

TEST(Resume, PlacesAndTensorsThatDoNotFitAreRefused) {
  const Data data = small_data();
  const TrainSpec spec = small_spec();
  const Checkpoint good = run("reference", data, spec).checkpoints.front();
  Checkpoint at = good;
  at.batches = 5;
  EXPECT_EQ(error_of([&] { run("reference", data, spec, &at); }),
            "bad input: checkpoint: step 5 of epoch 2 is no place in a run of 4 steps an epoch");
  at = good;
  at.tensors.pop_back();
  EXPECT_TRUE(error_of([&] {
                run("reference", data, spec, &at);
              }).starts_with("bad input: checkpoint: has no tensor '"));
  at = good;
  at.tensors.front().shape = {1};
  EXPECT_NE(error_of([&] { run("reference", data, spec, &at); }).find(", expected f32 {"),
            std::string::npos);
}

}  // namespace
}  // namespace stepscope
