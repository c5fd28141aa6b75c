// What a step of the mlp submits on the CUDA backend: which calls in which order, unfused and
// fused, the same in each mode and at each batch. docs/cuda.md has the numbers.
// SPDX-License-Identifier: Apache-2.0
#include <cublasLt.h>
#include <fmt/format.h>

#include "backends/cuda/cuda.h"
#include "backends/execution/session.h"
#include "graph/passes/fusion.h"
#include "ops/ir/op_def.h"
#include "tests/backends/cuda/backend/fixture.h"

namespace stepscope::cuda {
namespace {

using Calls = std::vector<std::string>;

const Calls kUnfused = {"library MatMul",
                        "own AddBias",
                        "own Relu",
                        "library MatMul",
                        "own AddBias",
                        "own SoftmaxCrossEntropy",
                        "own SoftmaxCrossEntropyGrad",
                        "own ReduceSum",
                        "own SgdUpdate",
                        "library MatMul",
                        "library MatMul",
                        "own SgdUpdate",
                        "own ReluGrad",
                        "own ReduceSum",
                        "own SgdUpdate",
                        "library MatMul",
                        "own SgdUpdate"};

const Calls kFused = {
    "library LinearReluMask", "library Linear",       "own SoftmaxCrossEntropyWithGrad",
    "library MatMulMaskGrad", "library MatMulUpdate", "own MatMulSgdUpdate"};

struct Step {
  Calls calls;
  Counters counted;
  std::uint64_t kernels = 0, copies = 0, fills = 0, nodes = 0;  // that ran, of graphs the nodes
};

struct Case {
  const char* model;
  std::int64_t batch;
};

// The second step of a session: nothing is made in it.
Step step_of(Mode mode, RecordAs record_as, const Case& each, const char* fusion,
             InputCopy input_copy = InputCopy::outside) {
  const std::unique_ptr<Backend> backend = make_backend({.record_as = record_as});
  Session session(*backend, make_model(each.model, {}),
                  {.mode = mode,
                   .step_batches = {each.batch},
                   .passes = passes_for(parse_fusion(fusion), backend->wishes()),
                   .input_copy = input_copy});
  Stream& stream = session.stream();
  session.step(each.batch).enqueue(stream);
  stream.wait();
  const Counters before = stream.counters();
  const cudasim::Totals ran = cudasim::totals();
  stream.clear_log();
  session.step(each.batch).enqueue(stream);
  stream.wait();
  const cudasim::Totals all = cudasim::totals();
  Step step{{},
            stream.counters() - before,
            all.kernels - ran.kernels + all.library_calls - ran.library_calls,
            all.copies - ran.copies,
            all.fills - ran.fills,
            all.nodes - ran.nodes};
  for (const LogEntry& entry : stream.log()) {
    step.calls.push_back(fmt::format("{} {}", entry.by == CallBy::library ? "library" : "own",
                                     name(entry.kernel->site().kind)));
  }
  return step;
}

class StepCounts : public test::DeviceTest, public testing::WithParamInterface<Case> {
 protected:
  // Call by call, and what the device ran for them: a kernel each.
  static void expect_ran(const Step& step, const Calls& calls, std::uint64_t library) {
    EXPECT_EQ(step.calls, calls);
    EXPECT_EQ(step.counted.library_calls, library);
    EXPECT_EQ(step.counted.own_calls, calls.size() - library);
    EXPECT_EQ(step.kernels, calls.size());
    EXPECT_EQ(step.fills, 0U);
  }

  static void expect_calls(const char* fusion, const Calls& calls, std::uint64_t library) {
    const std::uint64_t all = calls.size();
    for (const Mode mode : {Mode::eager, Mode::planned}) {
      const Step step = step_of(mode, RecordAs::capture, GetParam(), fusion);
      expect_ran(step, calls, library);
      EXPECT_EQ(step.counted.submitted, all);
      EXPECT_EQ(step.copies, 0U);
      EXPECT_EQ(step.nodes, 0U);
    }
    for (const RecordAs as : {RecordAs::capture, RecordAs::nodes}) {
      for (const InputCopy copy : {InputCopy::outside, InputCopy::inside}) {
        const std::uint64_t copies = copy == InputCopy::inside ? 2 : 0;
        const Step step = step_of(Mode::graph, as, GetParam(), fusion, copy);
        expect_ran(step, calls, library);
        EXPECT_EQ(step.counted.submitted, 0U);
        EXPECT_EQ(step.counted.replays, 1U);
        EXPECT_EQ(step.counted.calls_replayed, all);
        EXPECT_EQ(step.counted.copies_replayed, copies);
        EXPECT_EQ(step.copies, copies);
        EXPECT_EQ(step.nodes, all + copies);
      }
    }
  }
};

TEST_P(StepCounts, UnfusedAreSeventeenCalls) { expect_calls("off", kUnfused, 5); }

TEST_P(StepCounts, FusedAreSix) { expect_calls("on", kFused, 4); }

// A library that lacks the three epilogues: an own call behind each of its plainer products.
TEST_P(StepCounts, FusedAreNineWithoutTheEpilogues) {
  const Calls nine = {"library LinearReluMask", "own LinearReluMask",
                      "library Linear",         "own SoftmaxCrossEntropyWithGrad",
                      "library MatMulMaskGrad", "own MatMulMaskGrad",
                      "library MatMulUpdate",   "own MatMulUpdate",
                      "own MatMulSgdUpdate"};
  for (const Mode mode : {Mode::eager, Mode::planned, Mode::graph}) {
    // It is asked again, for the plainer product, each time that it refuses.
    for (const int nth : {1, 4, 6}) {
      cudasim::fail_call("cublasLtMatmulAlgoGetHeuristic", CUBLAS_STATUS_NOT_SUPPORTED, nth);
    }
    const Step step = step_of(mode, RecordAs::capture, GetParam(), "on");
    expect_ran(step, nine, 4);
    EXPECT_EQ(step.nodes, mode == Mode::graph ? 9U : 0U);
  }
}

// The mlp at a small batch; and a net, small for the sake of time, whose rows and whose sums over
// the batch take several blocks.
INSTANTIATE_TEST_SUITE_P(Batches, StepCounts,
                         testing::Values(Case{"mlp:784-128-10", 32}, Case{"mlp:3-4-130", 260}),
                         [](const auto& made) { return fmt::format("B{}", made.param.batch); });

}  // namespace
}  // namespace stepscope::cuda
