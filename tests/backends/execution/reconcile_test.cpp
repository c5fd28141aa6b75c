// reconcile() passes what the executors do, in every mode, and tells of every flaw planted here.
// SPDX-License-Identifier: Apache-2.0
#include "backends/execution/reconcile.h"

#include <gtest/gtest.h>

#include <array>

#include "backends/null/null.h"
#include "ops/ir/build.h"
#include "ops/models/model.h"
#include "tests/backends/execution/mutant.h"
#include "tests/support/errors.h"

namespace stepscope {
namespace {

using test::error_of;
using test::Flaw;
using test::Mutant;
using test::Rig;

constexpr std::array kModes = {Mode::eager, Mode::planned, Mode::graph};
constexpr std::uint64_t kSteps = 5;

// Two branches of one kernel each, side by side: ops 0 and 1, 2 and 3 can be mistaken for each
// other.
Graph fork() {
  Graph graph;
  const ValueId x = graph.declare(Role::input, {{4, 3}, DType::f32}, "x");
  const ValueId y = graph.declare(Role::input, {{4, 3}, DType::f32}, "y");
  const ValueId a = build::scale(graph, x, 0.5);  // op 0
  const ValueId b = build::scale(graph, y, 2.0);  // op 1
  const ValueId c = build::relu(graph, a);        // op 2
  const ValueId d = build::relu(graph, b);        // op 3
  graph.keep(build::add(graph, c, d), "out");     // op 4
  return graph;
}

class Reconcile : public testing::Test {
 protected:
  // What reconcile says of `steps` steps of the executor.
  std::string verdict(Rig& rig, Executor& executor, Requested requested,
                      std::uint64_t steps = kSteps) {
    const Counters before = rig.stream().counters();
    for (std::uint64_t i = 0; i < steps; ++i) executor.enqueue(rig.stream());
    return error_of([&] {
      reconcile(*rig.program(), rig.stream().counters() - before, rig.stream().log(), requested);
    });
  }

  // Of a flaw at op `at` of the fork, addresses checked.
  std::string verdict(Mode mode, Flaw flaw, std::size_t at) {
    Rig rig(*backend_, fork());
    rig.stream().keep_log(1024, LogOperands::copied);
    Mutant mutant(rig, mode, flaw, at);
    return verdict(rig, mutant, {.mode = mode, .steps = kSteps, .memory = &rig.memory()});
  }

  // Nothing is computed: a flaw shows in what was called, and no mutant touches dead memory.
  std::unique_ptr<Backend> backend_ = null::make_backend({});
};

TEST_F(Reconcile, PassesEveryModeUnderItsOwnNameOnly) {
  for (const auto kind :
       {OptimizerSpec::Kind::sgd, OptimizerSpec::Kind::momentum, OptimizerSpec::Kind::adam}) {
    const Model model = make_model("mlp:7-5-3", {.kind = kind});
    for (const Mode executed : kModes) {
      Rig rig(*backend_, model.step(3));
      rig.stream().keep_log(1024, LogOperands::copied);
      const auto executor = rig.executor(executed);
      for (const Mode asked : kModes) {
        const std::string said =
            verdict(rig, *executor, {.mode = asked, .steps = kSteps, .memory = &rig.memory()});
        const std::string expected = fmt::format(
            "device: reconcile: {} was asked for, {} was executed (5 steps: {} look-ups, {} single "
            "launches, {} replays)",
            name(asked), name(executed), executed == Mode::eager ? 5 * rig.graph().ops().size() : 0,
            executed == Mode::graph ? 0 : 5 * rig.graph().ops().size(),
            executed == Mode::graph ? 5 : 0);
        EXPECT_EQ(said, asked == executed ? "no error" : expected);
      }
    }
  }
}

TEST_F(Reconcile, PassesTheFlawlessMutant) {
  for (const Mode mode : kModes) {
    // The control looks like eager but shares memory in place: only without that it is eager.
    Rig rig(*backend_, fork(), mode == Mode::eager ? InPlace::off : InPlace::on);
    rig.stream().keep_log(1024, LogOperands::copied);
    Mutant mutant(rig, mode, Flaw::none, 0);
    EXPECT_EQ(verdict(rig, mutant, {.mode = mode, .steps = kSteps, .memory = &rig.memory()}),
              "no error");
  }
}

TEST_F(Reconcile, TellsOfASkippedOp) {
  for (const Mode mode : kModes) {
    EXPECT_EQ(verdict(mode, Flaw::skips, 2),
              "device: reconcile: op 2 (Relu) made 0 calls in 5 steps, 5 were expected");
  }
}

TEST_F(Reconcile, TellsOfARepeatedOp) {
  for (const Mode mode : kModes) {
    EXPECT_EQ(verdict(mode, Flaw::repeats, 4),
              "device: reconcile: op 4 (Add) made 10 calls in 5 steps, 5 were expected");
  }
}

TEST_F(Reconcile, TellsOfAnotherOrder) {
  for (const Mode mode : kModes) {
    EXPECT_EQ(verdict(mode, Flaw::swaps_order, 2),
              "device: reconcile: call 2 of step 1 is of op 3 (Relu), the program has op 2 (Relu) "
              "there");
  }
}

TEST_F(Reconcile, TellsOfSwappedOperands) {
  for (const Mode mode : kModes) {
    const std::string said = verdict(mode, Flaw::swaps_operands, 2);
    EXPECT_TRUE(said.starts_with("device: reconcile: op 2 (Relu) in step 1 read %0 at ")) << said;
    EXPECT_TRUE(said.ends_with(" bytes from where it was written")) << said;
  }
  // Ops that read the model segment only: nothing that was written before tells them apart.
  const std::string said = verdict(Mode::graph, Flaw::swaps_operands, 0);
  EXPECT_TRUE(said.starts_with("device: reconcile: op 0 (Scale) in step 1 read x at ")) << said;
}

TEST_F(Reconcile, TellsOfAnotherKernel) {
  for (const Mode mode : kModes) {
    EXPECT_EQ(verdict(mode, Flaw::other_kernel, 0),
              "device: reconcile: op 0 is Scale(f32{4, 3}) {factor = 0.5}, but the kernel of "
              "Scale(f32{4, 3}) {factor = 2} ran in step 1");
  }
}

TEST_F(Reconcile, TellsOfAKernelFromOutside) {
  Rig rig(*backend_, fork());
  Rig other(*backend_, fork());
  const auto executor = other.executor(Mode::planned);
  const Counters before = other.stream().counters();
  executor->enqueue(other.stream());
  EXPECT_EQ(error_of([&] {
              reconcile(*rig.program(), other.stream().counters() - before, other.stream().log(),
                        {.mode = Mode::planned, .steps = 1});
            }),
            "device: reconcile: op 0 is Scale(f32{4, 3}) {factor = 0.5}, but a kernel that is not "
            "of the program ran in step 1");
}

TEST_F(Reconcile, TellsOfAValueOverwrittenTooEarly) {
  Rig rig(*backend_, fork());
  rig.stream().keep_log(1024, LogOperands::copied);
  Mutant mutant(rig, Mode::planned, Flaw::none, 0);
  mutant.place_operand(1, 1, rig.graph().ops()[0].outputs[0]);  // b over a, which op 2 reads
  EXPECT_EQ(verdict(rig, mutant, {.mode = Mode::planned, .steps = kSteps, .memory = &rig.memory()}),
            "device: reconcile: op 1 (Scale) in step 1 wrote %1 over %0, which op 2 reads last");
}

TEST_F(Reconcile, TellsOfMemorySharedUnderEager) {
  Rig rig(*backend_, fork());  // in place: c over a
  rig.stream().keep_log(1024, LogOperands::copied);
  Mutant mutant(rig, Mode::eager, Flaw::none, 0);
  EXPECT_EQ(verdict(rig, mutant, {.mode = Mode::eager, .steps = kSteps, .memory = &rig.memory()}),
            "device: reconcile: op 2 (Relu) in step 1 wrote %2 over %0, which op 2 reads last");
}

TEST_F(Reconcile, TellsOfAMisalignedAddress) {
  Rig rig(*backend_, fork());
  rig.stream().keep_log(1024, LogOperands::copied);
  Mutant mutant(rig, Mode::planned, Flaw::none, 0);
  mutant.move_operand(1, 1, 4);
  mutant.move_operand(3, 0, 4);
  EXPECT_EQ(
      verdict(rig, mutant, {.mode = Mode::planned, .steps = kSteps, .memory = &rig.memory()}),
      "device: reconcile: op 1 (Scale) in step 1 was given an address 4 bytes off the alignment of "
      "64");
}

TEST_F(Reconcile, TellsOfAParameterElsewhere) {
  Rig rig(*backend_, make_model("mlp:4-3-2").step(2));
  rig.stream().keep_log(1024, LogOperands::copied);
  const auto executor = rig.executor(Mode::planned);
  // The same program against another model segment.
  ModelMemory other(*backend_, rig.stream(), rig.memory().layout());
  const std::string said =
      verdict(rig, *executor, {.mode = Mode::planned, .steps = kSteps, .memory = &other});
  EXPECT_TRUE(said.starts_with("device: reconcile: op 0 (MatMul) in step 1 read x at ")) << said;
}

TEST_F(Reconcile, TellsOfStepsMissing) {
  Rig rig(*backend_, fork());
  const auto executor = rig.executor(Mode::graph);
  EXPECT_EQ(verdict(rig, *executor, {.mode = Mode::graph, .steps = 6}),
            "device: reconcile: 6 steps were asked for, 5 were counted");
  EXPECT_EQ(verdict(rig, *executor, {.mode = Mode::graph, .steps = 0}, 0),
            "device: reconcile: 0 steps were asked for, 0 were counted");
}

TEST_F(Reconcile, TellsOfAMixtureOfModes) {
  Rig rig(*backend_, fork());
  const auto eager = rig.executor(Mode::eager);
  const auto graph = rig.executor(Mode::graph);
  const Counters before = rig.stream().counters();
  eager->enqueue(rig.stream());
  graph->enqueue(rig.stream());
  EXPECT_EQ(error_of([&] {
              reconcile(*rig.program(), rig.stream().counters() - before, rig.stream().log(),
                        {.mode = Mode::graph, .steps = 2});
            }),
            "device: executed mode: 2 steps with 5 look-ups, 5 single launches and 1 replays are "
            "no mode");
}

// The log is a ring: the newest calls decide, the totals come from the counters.
TEST_F(Reconcile, ReadsTheEndOfALogThatIsTooShort) {
  for (const Mode mode : kModes) {
    Rig rig(*backend_, fork());
    rig.stream().keep_log(8, LogOperands::copied);  // 25 calls in 5 steps
    const auto executor = rig.executor(mode);
    const Requested requested{.mode = mode, .steps = kSteps, .memory = &rig.memory()};
    EXPECT_EQ(verdict(rig, *executor, requested), "no error");

    Mutant skips(rig, mode, Flaw::skips, 2);
    EXPECT_EQ(verdict(rig, skips, requested),
              "device: reconcile: 20 calls were made in 5 steps, the program makes 5 a step");
    Mutant swaps(rig, mode, Flaw::swaps_order, 2);
    const std::string said = verdict(rig, swaps, requested);
    EXPECT_TRUE(said.starts_with("device: reconcile: call ")) << said;

    rig.stream().keep_log(4);
    EXPECT_EQ(verdict(rig, *executor, requested),
              "device: reconcile: the log holds 4 calls, one step makes 5: keep_log(5) before the "
              "steps");
    rig.stream().keep_log(0);
    EXPECT_EQ(verdict(rig, *executor, requested),
              "device: reconcile: the log holds 0 calls, one step makes 5: keep_log(5) before the "
              "steps");
  }
}

TEST_F(Reconcile, LeavesEarlierCallsAlone) {
  Rig rig(*backend_, fork());
  const auto planned = rig.executor(Mode::planned);
  planned->enqueue(rig.stream());  // a warm-up in another mode, still in the log
  const auto graph = rig.executor(Mode::graph);
  EXPECT_EQ(verdict(rig, *graph, {.mode = Mode::graph, .steps = kSteps}), "no error");
}

TEST_F(Reconcile, PassesEagerWithoutCacheWhenToldSo) {
  Rig rig(*backend_, fork());
  const auto naive = rig.executor(Mode::eager, {.eager_cache = EagerCache::off});
  EXPECT_EQ(
      verdict(rig, *naive, {.mode = Mode::eager, .steps = kSteps, .eager_cache = EagerCache::off}),
      "no error");
  EXPECT_EQ(verdict(rig, *naive, {.mode = Mode::eager, .steps = kSteps}),
            "device: reconcile: op 0 is Scale(f32{4, 3}) {factor = 0.5}, but a kernel that is not "
            "of the program ran in step 6");
}

TEST_F(Reconcile, HoldsCopiesOfReplaysAgainstTheInputs) {
  Rig rig(*backend_, fork());
  const auto graph = rig.executor(Mode::graph);
  EXPECT_EQ(
      verdict(rig, *graph, {.mode = Mode::graph, .steps = kSteps, .input_copy = InputCopy::inside}),
      "device: reconcile: replays made 0 copies of inputs in 5 steps, 10 were expected");
  const auto planned = rig.executor(Mode::planned);
  EXPECT_EQ(verdict(rig, *planned,
                    {.mode = Mode::planned, .steps = kSteps, .input_copy = InputCopy::inside}),
            "no error");
  graph->enqueue(rig.stream());
  Counters counted{.steps = 1, .replays = 1, .calls_replayed = 5, .own_calls = 5};
  counted.copies_in = counted.copies_replayed = 1;
  EXPECT_EQ(error_of([&] {
              reconcile(*rig.program(), counted, rig.stream().log(),
                        {.mode = Mode::graph, .steps = 1});
            }),
            "device: reconcile: replays made 1 copies of inputs in 1 steps, 0 were expected");
}

}  // namespace
}  // namespace stepscope
