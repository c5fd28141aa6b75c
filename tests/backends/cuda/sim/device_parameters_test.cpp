// Device parameters: pointers inside structs that a kernel takes by value are judged when it runs,
// and held by graphs, as those that are parameters themselves.
// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include "tests/backends/cuda/sim/device_rig.h"

namespace stepscope::cudasim {
namespace {

using DeviceParameters = DeviceTest;

struct Operand {
  int count = 0;
  float* data = nullptr;
  const float* end = nullptr;
};
__global__ void clear(int, Operand operand) {
  if (operand.data != nullptr && threadIdx.x < static_cast<unsigned>(operand.count)) {
    operand.data[threadIdx.x] = 0.0f;
  }
}

constexpr std::size_t kFloats = 16;

float* allocate() {
  void* data = nullptr;
  EXPECT_EQ(cudaSuccess, cudaMalloc(&data, kFloats * sizeof(float)));
  return static_cast<float*>(data);
}

void expect_illegal(const Operand& operand, std::size_t byte, const std::string& what) {
  EXPECT_EQ(cudaSuccess, cuda::launch(nullptr, 1, 1, 0, clear, 1, operand));
  EXPECT_EQ(cudaErrorIllegalAddress, cudaDeviceSynchronize());
  const std::string begin = "parameter 1 of kernel ";
  EXPECT_EQ(begin, device_fault().substr(0, begin.size()));
  EXPECT_NE(std::string::npos, device_fault().find(fmt::format("holds at byte {} {}", byte, what)))
      << device_fault();
  reset();
}

TEST_F(DeviceParameters, WhatAStructPointsToMustBeThere) {
  float* const freed = allocate();
  CUDA_OK(cudaFree(freed));
  expect_illegal({0, freed, nullptr}, 8, "freed device memory");
  float* const live = allocate();
  expect_illegal({0, live, live + kFloats + 1}, 16, "device memory");  // between the blocks
  void* pinned = nullptr;
  CUDA_OK(cudaMallocHost(&pinned, 64));
  CUDA_OK(cudaFreeHost(pinned));
  expect_illegal({0, static_cast<float*>(pinned) + 3, nullptr}, 8, "freed pinned memory");
}

TEST_F(DeviceParameters, StructsMayHoldNumbersEndsAndWhatCudaWasNeverToldOf) {
  float* const live = allocate();
  float of_host = 1.0f;
  CUDA_OK(cuda::launch(nullptr, 1, 8, 0, clear, 1, Operand{8, live, live + kFloats}));
  CUDA_OK(cuda::launch(nullptr, 1, 8, 0, clear, 1, Operand{}));
  CUDA_OK(cuda::launch(nullptr, 1, 8, 0, clear, 1, Operand{0, &of_host, nullptr}));
  CUDA_OK(cudaDeviceSynchronize());
  EXPECT_EQ("", device_fault());
  CUDA_OK(cudaFree(live));
}

TEST_F(DeviceParameters, AnExecutableHoldsWhatItsStructsPointTo) {
  float* const live = allocate();
  cudaStream_t stream = nullptr;
  cudaGraph_t graph = nullptr;
  cudaGraphExec_t exec = nullptr;
  CUDA_OK(cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking));
  const Operand operand{8, live, live + kFloats};
  CUDA_OK(cuda::launch(stream, 1, 8, 0, clear, 1, operand));
  CUDA_OK(cudaStreamBeginCapture(stream, cudaStreamCaptureModeGlobal));
  CUDA_OK(cuda::launch(stream, 1, 8, 0, clear, 1, operand));
  CUDA_OK(cudaStreamEndCapture(stream, &graph));
  CUDA_OK(cudaGraphInstantiate(&exec, graph, 0));
  CUDA_OK(cudaStreamSynchronize(stream));
  CUDA_OK(cudaFree(live));
  CUDA_OK(cudaGraphExecDestroy(exec));
  CUDA_OK(cudaGraphDestroy(graph));
  CUDA_OK(cudaStreamDestroy(stream));
  expect_lints({Lint::freed_before_exec});
}

}  // namespace
}  // namespace stepscope::cudasim
