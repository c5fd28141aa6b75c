// What the tests of memory, streams, events, clock, faults and lints share: kernels, and a fixture
// that destroys what it made.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "backends/cuda/sim/prelude.h"
//
#include <cmath>
#include <cstring>
#include <vector>

#include "backends/cuda/device_compat.cuh"
#include "tests/backends/cuda/sim/fixture.h"

namespace stepscope::cudasim {

inline constexpr int kCount = 8;  // floats of each buffer; one block
inline constexpr std::size_t kBytes = sizeof(float) * kCount;

namespace {

__global__ void set_to(float* data, float value) { data[threadIdx.x] = value; }
__global__ void add_to(float* data, float value) { data[threadIdx.x] += value; }
__global__ void copy_of(float* out, const float* in) { out[threadIdx.x] = in[threadIdx.x]; }

}  // namespace

inline std::vector<float> all(float value) { return std::vector<float>(kCount, value); }

inline bool all_nan(const std::vector<float>& values) {
  return std::all_of(values.begin(), values.end(), [](float value) { return std::isnan(value); });
}

class RuntimeTest : public SimTest {
 protected:
  void TearDown() override {
    // After a fault of the device nothing can be destroyed, and nothing counts as left.
    if (device_fault().empty()) destroy_all();
    SimTest::TearDown();
  }

  cudaStream_t stream(unsigned flags = cudaStreamNonBlocking) {
    cudaStream_t made = nullptr;
    EXPECT_EQ(cudaSuccess, cudaStreamCreateWithFlags(&made, flags));
    return streams_.emplace_back(made);
  }
  cudaEvent_t event(unsigned flags = cudaEventDefault) {
    cudaEvent_t made = nullptr;
    EXPECT_EQ(cudaSuccess, cudaEventCreateWithFlags(&made, flags));
    return events_.emplace_back(made);
  }
  float* device(std::size_t bytes = kBytes) {  // NaN
    void* made = nullptr;
    EXPECT_EQ(cudaSuccess, cudaMalloc(&made, bytes));
    device_.push_back(made);
    return static_cast<float*>(made);
  }
  float* pinned(float value = 0) {
    void* made = nullptr;
    EXPECT_EQ(cudaSuccess, cudaMallocHost(&made, kBytes));
    pinned_.push_back(made);
    std::fill_n(static_cast<float*>(made), kCount, value);
    return static_cast<float*>(made);
  }
  // After a reset() in the middle, or where a test destroys them itself.
  void forget() { streams_.clear(), events_.clear(), device_.clear(), pinned_.clear(); }

  static cudaError_t set(cudaStream_t stream, float* data, float value) {
    return cuda::launch(stream, 1, kCount, 0, set_to, data, value);
  }
  static cudaError_t add(cudaStream_t stream, float* data, float value) {
    return cuda::launch(stream, 1, kCount, 0, add_to, data, value);
  }
  static cudaError_t copy(cudaStream_t stream, float* out, const float* in) {
    return cuda::launch(stream, 1, kCount, 0, copy_of, out, in);
  }
  static std::vector<float> read(const float* data) {  // waits for the legacy stream alone
    std::vector<float> values(kCount);
    EXPECT_EQ(cudaSuccess, cudaMemcpy(values.data(), data, kBytes, cudaMemcpyDefault));
    return values;
  }
  // What finish() says, one line each.
  static std::string found() {
    std::string texts;
    for (const LintFound& lint : finish()) texts += lint.text + "\n";
    return texts;
  }

 private:
  void destroy_all() {
    for (cudaEvent_t event : events_) EXPECT_EQ(cudaSuccess, cudaEventDestroy(event));
    for (cudaStream_t stream : streams_) EXPECT_EQ(cudaSuccess, cudaStreamDestroy(stream));
    for (void* data : device_) EXPECT_EQ(cudaSuccess, cudaFree(data));
    for (void* data : pinned_) EXPECT_EQ(cudaSuccess, cudaFreeHost(data));
  }

  std::vector<cudaStream_t> streams_;
  std::vector<cudaEvent_t> events_;
  std::vector<void*> device_, pinned_;
};

}  // namespace stepscope::cudasim
