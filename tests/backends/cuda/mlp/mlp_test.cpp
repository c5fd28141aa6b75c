// A whole training step under the simulator: right against a double reference, and the same bits
// whether it runs live, captured or as nodes made one by one.
// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cmath>

#include "tests/backends/cuda/mlp/recorder.h"
#include "tests/backends/cuda/mlp/reference.h"
#include "tests/backends/cuda/mlp/step.h"
#include "tests/backends/cuda/sim/fixture.h"

namespace stepscope::mlp {
namespace {

using cudasim::Order;
using cudasim::Schedule;
using cudasim::totals;

constexpr float kRate = 0.1F;
constexpr int kSteps = 3;

enum class Way { live, captured, nodes };

struct Result {
  std::vector<float> losses;
  Parameters parameters;
  bool operator==(const Result&) const = default;
};

cudaGraph_t capture(Step& step) {
  Recorder recorder{.stream = step.stream()};
  check(cudaStreamBeginCapture(step.stream(), cudaStreamCaptureModeGlobal), "begin");
  step.record(recorder);
  cudaGraph_t graph = nullptr;
  check(cudaStreamEndCapture(step.stream(), &graph), "end");
  return graph;
}

cudaGraph_t make_nodes(Step& step) {
  cudaGraph_t graph = nullptr;
  check(cudaGraphCreate(&graph, 0), "cudaGraphCreate");
  Recorder recorder{.stream = step.stream(), .graph = graph};
  step.record(recorder);
  return graph;
}

// A chain of 16: 2 copies and 14 kernels, own ones and the library's.
void expect_chain(cudaGraph_t graph) {
  std::size_t nodes = 0, edges = 0;
  CUDA_OK(cudaGraphGetNodes(graph, nullptr, &nodes));
  CUDA_OK(cudaGraphGetEdges(graph, nullptr, nullptr, nullptr, &edges));
  EXPECT_EQ(std::size_t{kCalls}, nodes);
  EXPECT_EQ(std::size_t{kCalls - 1}, edges);
  std::vector<cudaGraphNode_t> all(nodes);
  CUDA_OK(cudaGraphGetNodes(graph, all.data(), &nodes));
  int copies = 0, kernels = 0;
  for (const cudaGraphNode_t node : all) {
    cudaGraphNodeType type = cudaGraphNodeTypeEmpty;
    CUDA_OK(cudaGraphNodeGetType(node, &type));
    copies += type == cudaGraphNodeTypeMemcpy ? 1 : 0;
    kernels += type == cudaGraphNodeTypeKernel ? 1 : 0;
  }
  EXPECT_EQ(2, copies);
  EXPECT_EQ(14, kernels);
}

// The first step is always live: a capture must not be the first to use a kernel.
Result train(const Sizes& sizes, Engine engine, Way way) {
  Step step(sizes, engine, parameters_of(sizes, 1), kRate);
  Recorder live{.stream = step.stream()};
  Result result;
  cudaGraphExec_t exec = nullptr;
  for (int i = 0; i < kSteps; ++i) {
    step.set_batch(batch_of(sizes, static_cast<std::uint64_t>(100 + i)));
    if (i == 1 && way != Way::live) {
      cudaGraph_t graph = way == Way::captured ? capture(step) : make_nodes(step);
      expect_chain(graph);
      check(cudaGraphInstantiate(&exec, graph, 0), "cudaGraphInstantiate");
      check(cudaGraphDestroy(graph), "cudaGraphDestroy");
    }
    if (exec == nullptr) {
      step.record(live);
    } else {
      check(cudaGraphLaunch(exec, step.stream()), "cudaGraphLaunch");
    }
    result.losses.push_back(step.loss());
  }
  EXPECT_EQ(kSteps, step.count());
  result.parameters = step.parameters();
  if (exec != nullptr) check(cudaGraphExecDestroy(exec), "cudaGraphExecDestroy");
  return result;
}

// What floats can lose: sums of at most `longest` terms, each of a size below 1, at each step.
void expect_near_reference(const Sizes& sizes, const Result& result) {
  const Parameters start = parameters_of(sizes, 1);
  Reference reference(sizes, start, kRate);
  const int longest = *std::max_element(sizes.features.begin(), sizes.features.end());
  const double tolerance = kSteps * double{kRate} * longest * 0x1p-24;
  for (int i = 0; i < kSteps; ++i) {
    const double loss = reference.step(batch_of(sizes, static_cast<std::uint64_t>(100 + i)));
    const double got = result.losses[static_cast<std::size_t>(i)];
    EXPECT_TRUE(std::abs(got - loss) <= longest * 0x1p-24 * (1 + loss)) << got << " for " << loss;
  }
  for (std::size_t layer = 0; layer < kLayers; ++layer) {
    double worst = 0, moved = 0;
    for (std::size_t i = 0; i < start[layer].size(); ++i) {
      const double want = reference.parameters()[layer][i];
      const double error = std::abs(result.parameters[layer][i] - want);
      worst = error <= worst ? worst : error;  // NaN is the worst
      moved = std::max(moved, std::abs(want - start[layer][i]));
    }
    EXPECT_TRUE(worst <= tolerance) << "layer " << layer << ": " << worst << " of " << tolerance;
    EXPECT_GT(moved, 50 * tolerance) << "the comparison would see nothing";
  }
}

class Mlp : public cudasim::SimTest {};

constexpr Sizes kOdd{5, {19, 13, 7, 3}};     // multiples of nothing
constexpr Sizes kEven{8, {72, 64, 80, 10}};  // long enough for sums in two halves

TEST_F(Mlp, ValuesOfTheLibrarysProducts) {
  for (const Sizes& sizes : {kOdd, kEven}) {
    expect_near_reference(sizes, train(sizes, Engine::library, Way::live));
  }
}

TEST_F(Mlp, ValuesOfTheKernelsProducts) {
  for (const Sizes& sizes : {kOdd, kEven}) {
    expect_near_reference(sizes, train(sizes, Engine::kernels, Way::live));
  }
}

TEST_F(Mlp, LiveCapturedAndNodesAreTheSameBits) {
  for (const Sizes& sizes : {kOdd, kEven}) {
    for (const Engine engine : {Engine::library, Engine::kernels}) {
      const Result live = train(sizes, engine, Way::live);
      EXPECT_EQ(live, train(sizes, engine, Way::captured));
      EXPECT_EQ(live, train(sizes, engine, Way::nodes));
    }
  }
}

TEST_F(Mlp, NoScheduleAndNoOrderChangesABit) {
  const Result lazy = train(kOdd, Engine::library, Way::captured);
  for (const Schedule schedule : {Schedule::eager, Schedule::seeded}) {
    for (const Order order : {Order::ascending, Order::descending, Order::seeded}) {
      settings_.schedule = schedule;
      settings_.blocks = settings_.threads = order;
      settings_.seed = 5;
      cudasim::reset(settings_);
      EXPECT_EQ(lazy, train(kOdd, Engine::library, Way::captured));
    }
  }
}

TEST_F(Mlp, CountsAreExact) {
  train(kEven, Engine::library, Way::captured);
  EXPECT_EQ(2U, totals().graph_launches);
  EXPECT_EQ(std::uint64_t{2 * kCalls}, totals().nodes);
  EXPECT_EQ(std::uint64_t{3 * 8}, totals().library_calls);
  EXPECT_EQ(std::uint64_t{3 * 6}, totals().kernels);
  EXPECT_EQ(2U * 6, cudasim::calls_of("cudaLaunchKernelExC"));  // one step live, one captured
  EXPECT_EQ(2U * 8, cudasim::calls_of("cublasLtMatmul"));
  EXPECT_EQ(2U * 2, cudasim::calls_of("cudaMemcpyAsync"));
  EXPECT_EQ(0U, totals().waiting);
  cudasim::reset();
  train(kEven, Engine::kernels, Way::nodes);
  EXPECT_EQ(std::uint64_t{3 * 14}, totals().kernels);
  EXPECT_EQ(14U, cudasim::calls_of("cudaLaunchKernelExC"));
  EXPECT_EQ(14U, cudasim::calls_of("cudaGraphAddKernelNode"));
  EXPECT_EQ(2U, cudasim::calls_of("cudaGraphAddMemcpyNode1D"));
}

TEST_F(Mlp, AReusedInputBufferThatNobodyWaitedForIsSeen) {
  Step step(kOdd, Engine::library, parameters_of(kOdd, 1), kRate);
  Recorder live{.stream = step.stream()};
  step.set_batch(batch_of(kOdd, 100));
  step.record(live);
  step.set_batch(batch_of(kOdd, 101));  // the copy has not run: it will take this batch
  const float spoiled = step.loss();
  Step other(kOdd, Engine::library, parameters_of(kOdd, 1), kRate);
  Recorder alone{.stream = other.stream()};
  other.set_batch(batch_of(kOdd, 101));
  other.record(alone);
  EXPECT_EQ(other.loss(), spoiled);
  EXPECT_NE(train(kOdd, Engine::library, Way::live).losses[0], spoiled);
}

}  // namespace
}  // namespace stepscope::mlp
