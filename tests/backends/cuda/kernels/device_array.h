// Device array: values that go to the device and come back, for tests that know no streams.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cuda_runtime_api.h>
#include <gtest/gtest.h>

#include <cstddef>
#include <vector>

namespace stepscope::kernels {

template <class T>
class DeviceArray {
 public:
  // NaN, or -1: what the simulator's fresh memory holds.
  explicit DeviceArray(std::size_t count) : count_(count) {
    EXPECT_EQ(cudaSuccess, cudaMalloc(reinterpret_cast<void**>(&data_), count * sizeof(T)));
  }
  explicit DeviceArray(const std::vector<T>& values) : DeviceArray(values.size()) {
    upload(values);
  }
  ~DeviceArray() { EXPECT_EQ(cudaSuccess, cudaFree(data_)); }
  DeviceArray(const DeviceArray&) = delete;
  DeviceArray& operator=(const DeviceArray&) = delete;

  T* data() const { return data_; }
  void upload(const std::vector<T>& values) {
    EXPECT_EQ(cudaSuccess,
              cudaMemcpy(data_, values.data(), count_ * sizeof(T), cudaMemcpyHostToDevice));
  }
  // NaN, or -1, again.
  void forget() const { EXPECT_EQ(cudaSuccess, cudaMemset(data_, 0xFF, count_ * sizeof(T))); }
  // Waits for what was launched before on the default stream.
  std::vector<T> download() const {
    std::vector<T> values(count_);
    EXPECT_EQ(cudaSuccess,
              cudaMemcpy(values.data(), data_, count_ * sizeof(T), cudaMemcpyDeviceToHost));
    return values;
  }

 private:
  std::size_t count_;
  T* data_ = nullptr;
};

}  // namespace stepscope::kernels
