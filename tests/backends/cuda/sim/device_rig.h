// Device rig: runs a kernel once on a few values of mapped memory, for tests that look at what the
// threads of one launch saw.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <string>
#include <utility>
#include <vector>

#include "backends/cuda/device_compat.cuh"
#include "tests/backends/cuda/sim/fixture.h"

namespace stepscope::cudasim {

class DeviceTest : public SimTest {
 protected:
  template <class T>
  static std::vector<T> run(dim3 grid, dim3 block, void (*kernel)(T*), std::size_t count,
                            T first = T{}, std::size_t dynamic_shared = 0) {
    T* data = nullptr;
    const std::vector<T> fresh(count, first);
    const std::size_t bytes = count * sizeof(T);
    std::vector<T> values(count);
    EXPECT_EQ(cudaSuccess, cudaMalloc(reinterpret_cast<void**>(&data), bytes));
    EXPECT_EQ(cudaSuccess, cudaMemcpy(data, fresh.data(), bytes, cudaMemcpyHostToDevice));
    EXPECT_EQ(cudaSuccess, cuda::launch(nullptr, grid, block, dynamic_shared, kernel, data));
    EXPECT_EQ(cudaSuccess, cudaMemcpy(values.data(), data, bytes, cudaMemcpyDeviceToHost));
    EXPECT_EQ("", device_fault());
    EXPECT_EQ(cudaSuccess, cudaFree(data));
    return values;
  }

  // The launch ends in the sticky 719, and the text of the fault is the one given.
  template <class... P, class... A>
  static void expect_fault(const std::string& text, dim3 grid, dim3 block, void (*kernel)(P...),
                           A&&... arguments) {
    EXPECT_EQ(cudaSuccess,
              cuda::launch(nullptr, grid, block, 0, kernel, std::forward<A>(arguments)...));
    EXPECT_EQ(cudaErrorLaunchFailure, cudaDeviceSynchronize());
    EXPECT_EQ(text, device_fault());
    EXPECT_EQ(cudaErrorLaunchFailure, cudaDeviceSynchronize());
  }
};

}  // namespace stepscope::cudasim
