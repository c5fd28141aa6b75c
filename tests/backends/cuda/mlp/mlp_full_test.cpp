// The step at the size that is measured: 784-512-256-10, a batch of 32.
// SPDX-License-Identifier: Apache-2.0
#include <cmath>

#include "tests/backends/cuda/mlp/recorder.h"
#include "tests/backends/cuda/mlp/reference.h"
#include "tests/backends/cuda/mlp/step.h"
#include "tests/backends/cuda/sim/fixture.h"

namespace stepscope::mlp {
namespace {

constexpr Sizes kFull{32, {784, 512, 256, 10}};
constexpr float kRate = 0.1F;

class MlpFull : public cudasim::SimTest {};

TEST_F(MlpFull, TwoReplaysAgainstTheReference) {
  const Parameters start = parameters_of(kFull, 1);
  Step step(kFull, Engine::library, start, kRate);
  EXPECT_GT(step.most_workspace(), 0U);  // or no product shows what a workspace does
  Recorder recorder{.stream = step.stream()};
  Reference reference(kFull, start, kRate);
  cudaGraphExec_t exec = nullptr;
  for (std::uint64_t seed = 0; seed < 3; ++seed) {
    const Batch batch = batch_of(kFull, seed);
    step.set_batch(batch);
    if (exec == nullptr) {
      step.record(recorder);
    } else {
      CUDA_OK(cudaGraphLaunch(exec, step.stream()));
    }
    const double loss = reference.step(batch);
    EXPECT_TRUE(std::abs(step.loss() - loss) <= 784 * 0x1p-24 * (1 + loss)) << "step " << seed;
    if (exec != nullptr) continue;
    CUDA_OK(cudaStreamBeginCapture(step.stream(), cudaStreamCaptureModeGlobal));
    step.record(recorder);
    cudaGraph_t graph = nullptr;
    CUDA_OK(cudaStreamEndCapture(step.stream(), &graph));
    CUDA_OK(cudaGraphInstantiate(&exec, graph, 0));
    CUDA_OK(cudaGraphDestroy(graph));
  }
  CUDA_OK(cudaGraphExecDestroy(exec));
  const Parameters parameters = step.parameters();
  for (std::size_t layer = 0; layer < kLayers; ++layer) {
    double worst = 0;
    for (std::size_t i = 0; i < parameters[layer].size(); ++i) {
      const double error = std::abs(parameters[layer][i] - reference.parameters()[layer][i]);
      worst = error <= worst ? worst : error;  // NaN is the worst
    }
    EXPECT_TRUE(worst <= 3 * kRate * 784 * 0x1p-24) << "layer " << layer << ": " << worst;
  }
}

}  // namespace
}  // namespace stepscope::mlp
