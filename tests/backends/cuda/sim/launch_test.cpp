// Launches: rule 33, parameters copied and checked, limits opted into.
// SPDX-License-Identifier: Apache-2.0
#include "tests/backends/cuda/sim/runtime_support.h"

namespace stepscope::cudasim {
namespace {

class Launches : public RuntimeTest {};

__global__ void count_threads(unsigned* count) { atomicAdd(count, 1u); }
__global__ void never_named(float*) {}

cudaError_t launch_raw(dim3 grid, dim3 block, std::size_t shared, unsigned* count) {
  return cuda::launch(nullptr, grid, block, shared, count_threads, count);
}

TEST_F(Launches, RunEveryThread) {
  auto* const count = reinterpret_cast<unsigned*>(pinned());
  *count = 0;
  CUDA_OK(launch_raw({3, 2, 2}, {4, 3, 2}, 0, count));
  CUDA_OK(cudaDeviceSynchronize());
  EXPECT_EQ(3u * 2 * 2 * 4 * 3 * 2, *count);
}

TEST_F(Launches, Rule33_SizesBeyondTheLimitsAreRefused) {
  auto* const count = reinterpret_cast<unsigned*>(pinned());
  const dim3 one(1);
  for (const dim3& block : {dim3(1025), dim3(32, 33), dim3(1, 1, 65), dim3(0), dim3(1, 0, 1)}) {
    expect_refused(cudaErrorInvalidConfiguration, launch_raw(one, block, 0, count));
  }
  for (const dim3& grid : {dim3(0), dim3(1, 65536), dim3(1, 1, 65536), dim3(1, 1, 0)}) {
    expect_refused(cudaErrorInvalidConfiguration, launch_raw(grid, one, 0, count));
  }
  for (const dim3& block : {dim3(1024), dim3(32, 32), dim3(1, 1, 64)}) {
    CUDA_OK(launch_raw(one, block, 0, count));
  }
}

TEST_F(Launches, Rule33_SharedMemoryIsOptedInto) {
  auto* const count = reinterpret_cast<unsigned*>(pinned());
  const auto* const kernel = reinterpret_cast<const void*>(count_threads);
  CUDA_OK(launch_raw(1, 1, 48 * 1024, count));
  expect_refused(cudaErrorInvalidValue, launch_raw(1, 1, 48 * 1024 + 1, count));
  CUDA_OK(cudaFuncSetAttribute(kernel, cudaFuncAttributeMaxDynamicSharedMemorySize, 64 * 1024));
  CUDA_OK(launch_raw(1, 1, 64 * 1024, count));
  expect_refused(cudaErrorInvalidValue, launch_raw(1, 1, 64 * 1024 + 1, count));
  CUDA_OK(cudaDeviceSynchronize());
  cudaFuncAttributes attributes{};
  CUDA_OK(cudaFuncGetAttributes(&attributes, kernel));
  EXPECT_EQ(64 * 1024, attributes.maxDynamicSharedSizeBytes);
  EXPECT_EQ(1024, attributes.maxThreadsPerBlock);
  expect_refused(
      cudaErrorInvalidValue,
      cudaFuncSetAttribute(kernel, cudaFuncAttributeMaxDynamicSharedMemorySize, 227 * 1024 + 1));
  CUDA_OK(cudaFuncSetAttribute(kernel, cudaFuncAttributePreferredSharedMemoryCarveout, 50));
  expect_refused(cudaErrorInvalidValue,
                 cudaFuncSetAttribute(kernel, cudaFuncAttributePreferredSharedMemoryCarveout, 101));
  expect_refused(cudaErrorInvalidValue,
                 cudaFuncSetAttribute(kernel, cudaFuncAttributeRequiredClusterWidth, 1));
}

TEST_F(Launches, Rule33_UnknownFunctionsAreRefused) {
  const auto* const kernel = reinterpret_cast<const void*>(never_named);
  cudaLaunchConfig_t config{};
  config.gridDim = config.blockDim = 1;
  float* pointer = nullptr;
  void* arguments[] = {&pointer};
  cudaFuncAttributes attributes{};
  for (const void* function : {kernel, static_cast<const void*>(nullptr)}) {
    expect_refused(cudaErrorInvalidDeviceFunction,
                   cudaLaunchKernelExC(&config, function, arguments));
    expect_refused(cudaErrorInvalidDeviceFunction, cudaFuncGetAttributes(&attributes, function));
    expect_refused(cudaErrorInvalidDeviceFunction,
                   cudaFuncSetAttribute(function, cudaFuncAttributeMaxDynamicSharedMemorySize, 0));
  }
  expect_refused(cudaErrorInvalidValue, cudaLaunchKernelExC(nullptr, kernel, arguments));
  REGISTER_KERNEL(never_named);
  CUDA_OK(cudaLaunchKernelExC(&config, kernel, arguments));
  expect_refused(cudaErrorInvalidValue, cudaLaunchKernelExC(&config, kernel, nullptr));
  cudaLaunchAttribute attribute{};
  attribute.id = cudaLaunchAttributeCooperative;
  config.attrs = &attribute;
  config.numAttrs = 1;
  expect_refused(cudaErrorNotSupported, cudaLaunchKernelExC(&config, kernel, arguments));
}

struct Odd {
  char letter;
  double number;
  short small[3];
};

__global__ void mixed(char c, double d, Odd odd, float* out, short s) {
  out[0] = static_cast<float>(c);
  out[1] = static_cast<float>(d);
  out[2] = static_cast<float>(odd.number) + odd.small[2];
  out[3] = s;
}

TEST_F(Launches, ParametersAreCopiedAtTheCall) {
  float* const out = pinned();
  char c = 1;
  double d = 2;
  Odd odd{'x', 3, {0, 0, 4}};
  short s = 5;
  CUDA_OK(cuda::launch(nullptr, 1, 1, 0, mixed, c, d, odd, out, s));
  c = 0, d = 0, odd = {}, s = 0;
  CUDA_OK(cudaDeviceSynchronize());
  EXPECT_EQ((std::vector<float>{1, 2, 7, 5}), std::vector<float>(out, out + 4));
}

// --- pointers are judged when the kernel runs ----------------------------------------------------

TEST_F(Launches, APageablePointerIsTheDevicesFault) {
  std::vector<float> pageable(kCount);
  CUDA_OK(copy(nullptr, device(), pageable.data()));  // the call itself knows nothing
  EXPECT_EQ(cudaErrorIllegalAddress, cudaDeviceSynchronize());
  EXPECT_NE(std::string::npos, device_fault().find("parameter 1 of kernel")) << device_fault();
  EXPECT_NE(std::string::npos, device_fault().find("pageable host memory 0x")) << device_fault();
  EXPECT_EQ(0u, totals().kernels - 1);
}

TEST_F(Launches, SoIsAFreedOne) {
  const cudaStream_t s = stream();
  void* data = nullptr;
  CUDA_OK(cudaMalloc(&data, kBytes));
  CUDA_OK(cudaFree(data));
  CUDA_OK(set(s, static_cast<float*>(data), 1));
  EXPECT_EQ(cudaErrorIllegalAddress, cudaStreamSynchronize(s));
  EXPECT_NE(std::string::npos, device_fault().find("freed device memory")) << device_fault();
}

TEST_F(Launches, SoIsOneBetweenTheBlocks) {
  CUDA_OK(set(nullptr, device() + kCount + 1, 1));
  EXPECT_EQ(cudaErrorIllegalAddress, cudaDeviceSynchronize());
}

__global__ void ends(const float* begin, const float* end, int* count) {
  *count = static_cast<int>(end - begin);
}
__global__ void takes_null(const float* maybe, int* flag) { *flag = maybe == nullptr ? 1 : 0; }

TEST_F(Launches, NullAndTheEndOfABlockAreFine) {
  const float* const data = device();
  auto* const out = reinterpret_cast<int*>(pinned());
  CUDA_OK(cuda::launch(nullptr, 1, 1, 0, ends, data, data + kCount, out));
  CUDA_OK(cuda::launch(nullptr, 1, 1, 0, takes_null, nullptr, out + 1));
  CUDA_OK(cudaDeviceSynchronize());
  EXPECT_EQ(kCount, out[0]);
  EXPECT_EQ(1, out[1]);
}

#if !defined(__SANITIZE_ADDRESS__)  // which stops the program there
__global__ void write_at(float* data, int index) { data[index] = 1; }

TEST_F(Launches, WritesBetweenTheBlocksAreTheDevicesFault) {
  struct Case {
    int index;
    const char* said;
  };
  for (const Case& one : {Case{kCount, "(block 1 of 32 bytes, byte 0), "},
                          Case{kCount + 60, "bytes behind it"}, Case{-1, "between the blocks"}}) {
    reset();
    forget();
    CUDA_OK(cuda::launch(nullptr, 1, 1, 0, write_at, device(), one.index));
    EXPECT_EQ(cudaErrorIllegalAddress, cudaDeviceSynchronize());
    EXPECT_NE(std::string::npos, device_fault().find(one.said)) << device_fault();
  }
}
#endif

// places[0] counts; behind it, who came when.
__global__ void arrive(unsigned* places) {
  const unsigned me = blockIdx.x * blockDim.x + threadIdx.x;
  places[1 + atomicAdd(places, 1u)] = me;
}

TEST_F(Launches, SeededOrdersAreTheSeeds) {
  constexpr unsigned kBlocks = 4, kThreads = 16, kAll = kBlocks * kThreads;
  const auto arrivals = [&](Order order, std::uint64_t seed) {
    reset({.blocks = order, .threads = order, .seed = seed});
    forget();
    void* data = nullptr;
    EXPECT_EQ(cudaSuccess, cudaMallocHost(&data, (kAll + 1) * sizeof(unsigned)));
    auto* const places = static_cast<unsigned*>(data);
    places[0] = 0;
    EXPECT_EQ(cudaSuccess, cuda::launch(nullptr, kBlocks, kThreads, 0, arrive, places));
    EXPECT_EQ(cudaSuccess, cudaDeviceSynchronize());
    const std::vector<unsigned> found(places + 1, places + 1 + kAll);
    EXPECT_EQ(cudaSuccess, cudaFreeHost(data));
    return found;
  };
  std::vector<unsigned> expected(kAll);
  for (unsigned i = 0; i < kAll; ++i) expected[i] = i;
  EXPECT_EQ(expected, arrivals(Order::ascending, 1));
  std::reverse(expected.begin(), expected.end());
  EXPECT_EQ(expected, arrivals(Order::descending, 1));
  EXPECT_EQ(arrivals(Order::seeded, 1), arrivals(Order::seeded, 1));
  EXPECT_NE(arrivals(Order::seeded, 1), arrivals(Order::seeded, 2));
}

}  // namespace
}  // namespace stepscope::cudasim
