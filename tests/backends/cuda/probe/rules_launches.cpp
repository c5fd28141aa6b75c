// Rules 33, 34, 35: limits of launches, faults of the device, the last error.
// SPDX-License-Identifier: Apache-2.0
#include <array>
#include <cstdint>
#include <thread>

#include "tests/backends/cuda/probe/kernels.h"
#include "tests/backends/cuda/probe/rules.h"
#include "tests/backends/cuda/probe/scene.h"

namespace stepscope::probe {
namespace {

int no_kernel() { return 0; }

void launch_limits(Report& report) {
  const Stream stream;
  const dim3 one(1);
  const auto launch = [&](dim3 grid, dim3 block, std::size_t shared) {
    return launch_nothing(stream, grid, block, shared);
  };
  report.code("a block of 1024 threads", launch(one, dim3(1024), 0));
  report.device_code("a block of 1025", launch(one, dim3(1025), 0));
  report.device_code("a block of 1 x 1025", launch(one, dim3(1, 1025), 0));
  report.device_code("a block of 1 x 1 x 65", launch(one, dim3(1, 1, 65), 0));
  report.device_code("a block of 32 x 33", launch(one, dim3(32, 33), 0));
  report.device_code("a block of 0", launch(one, dim3(0), 0));
  report.device_code("a grid of 0", launch(dim3(0), one, 0));
  report.device_code("a grid of 1 x 65536", launch(dim3(1, 65536), one, 0));
  report.code("48 KiB of dynamic shared memory", launch(one, one, 48 * 1024));
  report.device_code("64 KiB without asking for it", launch(one, one, 64 * 1024));
  report.code("asking for 64 KiB",
              cudaFuncSetAttribute(nothing_kernel(), cudaFuncAttributeMaxDynamicSharedMemorySize,
                                   64 * 1024));
  report.code("64 KiB", launch(one, one, 64 * 1024));
  report.device_code(
      "asking for 1 MiB",
      cudaFuncSetAttribute(nothing_kernel(), cudaFuncAttributeMaxDynamicSharedMemorySize,
                           1024 * 1024));
  cudaLaunchConfig_t config{};
  config.gridDim = config.blockDim = one;
  config.stream = stream;
  report.code("a function that is no kernel",
              cudaLaunchKernelExC(&config, reinterpret_cast<const void*>(no_kernel), nullptr));
  report.code("wait", cudaStreamSynchronize(stream));
  const DeviceInts data;
  report.code("an array of 1 KiB beside 47 KiB of dynamic shared memory",
              launch_use_array(stream, data.data(), 47 * 1024));
  report.code("wait", cudaStreamSynchronize(stream));
  // A device knows the array before it launches; the simulator when the kernel runs, so that its
  // fault is sticky: nothing may follow.
  const cudaError_t launched = launch_use_array(stream, data.data(), 48 * 1024);
  report.device_code("an array of 1 KiB beside 48 KiB, launched and waited for",
                     launched != cudaSuccess ? launched : cudaStreamSynchronize(stream));
}

void device_faults(Report& report) {
  const Stream stream, other;
  const DeviceInts data;
  // The first page holds no memory, the host's or the device's.
  const std::uintptr_t nowhere = 16;
  report.code("launch on an address without memory",
              launch_add(stream, reinterpret_cast<int*>(nowhere), 1));
  report.code("wait", cudaStreamSynchronize(stream));
  report.code("wait again", cudaStreamSynchronize(stream));
  void* memory = nullptr;
  cudaStream_t third = nullptr;
  report.code("cudaMalloc", cudaMalloc(&memory, 64));
  report.code("cudaStreamCreate", cudaStreamCreate(&third));
  report.code("launch on another stream", launch_add(other, data.data(), 1));
  report.code("cudaMemsetAsync", cudaMemsetAsync(data.data(), 0, data.bytes(), other));
  report.code("cudaDeviceSynchronize", cudaDeviceSynchronize());
  const cudaError_t first = cudaGetLastError(), second = cudaGetLastError();
  report.code("cudaGetLastError", first);
  report.code("cudaGetLastError again", second, Settled::by_device);
  int number = 0;
  report.device_code("cudaGetDevice", cudaGetDevice(&number));
  report.device_code("cudaGetDeviceCount", cudaGetDeviceCount(&number));
  report.device_code("cudaDriverGetVersion", cudaDriverGetVersion(&number));
  report.code("cudaRuntimeGetVersion", cudaRuntimeGetVersion(&number));
}

void last_errors(Report& report) {
  const Event event;
  float milliseconds = 0;
  const cudaError_t failed = cudaEventElapsedTime(&milliseconds, event, event);
  cudaError_t elsewhere = cudaSuccess;
  std::thread([&] { elsewhere = cudaPeekAtLastError(); }).join();
  int device = 0;
  const cudaError_t between = cudaGetDevice(&device);
  const cudaError_t peeked = cudaPeekAtLastError(), peeked_again = cudaPeekAtLastError();
  const cudaError_t first = cudaGetLastError(), second = cudaGetLastError();
  report.code("a call that fails", failed);
  report.code("another thread's last error", elsewhere);
  report.code("a call that succeeds", between);
  report.code("cudaPeekAtLastError", peeked);
  report.code("cudaPeekAtLastError again", peeked_again);
  report.code("cudaGetLastError", first);
  report.code("cudaGetLastError again", second);
  const Stream stream;
  const DeviceInts data;
  for (int launch = 0; launch < 100; ++launch) {
    must(launch_slow_increment(stream, data.data()), "launch");
  }
  const cudaError_t busy = cudaStreamQuery(stream), after_query = cudaGetLastError();
  report.code("query a stream that is busy", busy);
  report.device_code("cudaGetLastError after it", after_query);
  report.value("the value in the end", data.first());
}

constexpr std::array kRules = {
    Rule{33, "limits of a launch", launch_limits},
    Rule{34, "a device's fault is sticky", device_faults},
    Rule{35, "cudaGetLastError clears other errors", last_errors},
};

}  // namespace

std::span<const Rule> rules_of_launches() { return kRules; }

}  // namespace stepscope::probe
