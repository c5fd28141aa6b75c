// Device, pinned and registered memory: what is allocated where, copied how, freed when.
// SPDX-License-Identifier: Apache-2.0
#include <cstring>
#include <vector>

#include "tests/backends/cuda/sim/fixture.h"

namespace stepscope::cudasim {
namespace {

class Memory : public SimTest {};

TEST_F(Memory, ComesBackAsItWasCopied) {
  void* device = nullptr;
  CUDA_OK(cudaMalloc(&device, 1000));
  std::vector<char> out(1000, 'x'), in(1000);
  CUDA_OK(cudaMemcpy(device, out.data(), 1000, cudaMemcpyHostToDevice));
  CUDA_OK(cudaMemcpy(in.data(), device, 1000, cudaMemcpyDeviceToHost));
  EXPECT_EQ(out, in);
  CUDA_OK(cudaFree(device));
}

}  // namespace
}  // namespace stepscope::cudasim
