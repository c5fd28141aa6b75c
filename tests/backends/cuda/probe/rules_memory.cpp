// Rules 29 to 32: pageable copies, frees, elapsed time.
// SPDX-License-Identifier: Apache-2.0
#include <array>
#include <atomic>
#include <chrono>
#include <thread>

#include "tests/backends/cuda/probe/kernels.h"
#include "tests/backends/cuda/probe/rules.h"
#include "tests/backends/cuda/probe/scene.h"

namespace stepscope::probe {
namespace {

void pageable_copies(Report& report) {
  Stream stream;
  const DeviceInts data;
  int host = 5;
  report.code("cudaMemcpyAsync from pageable memory",
              cudaMemcpyAsync(data.data(), &host, sizeof(host), cudaMemcpyHostToDevice, stream));
  host = 6;  // the copy was staged before the call returned
  report.value("the value, 5 copied, then 6 written to the source", data.first());
  int back = 0;
  report.code("cudaMemcpyAsync to pageable memory",
              cudaMemcpyAsync(&back, data.data(), sizeof(back), cudaMemcpyDeviceToHost, stream));
  report.code("wait", cudaStreamSynchronize(stream));
  report.value("what came back", back);
}

void pageable_in_capture(Report& report) {
  Stream stream;
  const DeviceInts data;
  static int host;  // outlives the graph
  host = 5;
  stream.begin();
  report.code("cudaMemcpyAsync from pageable memory in a capture",
              cudaMemcpyAsync(data.data(), &host, sizeof(host), cudaMemcpyHostToDevice, stream));
  cudaGraph_t graph = nullptr;
  report.code("end", cudaStreamEndCapture(stream, &graph));
  {
    const Executable executable(graph);
    for (const int value : {7, 8}) {
      host = value;
      report.code("write to the source, launch the graph", cudaGraphLaunch(executable, stream));
      report.value("the value", data.first());
    }
  }
  cudaGraphDestroy(graph);
}

void frees(Report& report) {
  Stream stream;
  void* data = nullptr;
  must(cudaMalloc(&data, 4096), "cudaMalloc");
  must(cudaMemset(data, 0, 4096), "cudaMemset");
  report.code("launch on a block", launch_slow_increment(stream, static_cast<int*>(data)));
  report.device_code("cudaFree of the block's middle", cudaFree(static_cast<char*>(data) + 256));
  // It may wait for the work, or may not: nothing that is asked here relies on it.
  report.code("wait", cudaStreamSynchronize(stream));
  report.code("cudaFree of the block", cudaFree(data));
  report.code("cudaFree again", cudaFree(data));
  report.code("cudaFree of null", cudaFree(nullptr));
  void* pinned = nullptr;
  must(cudaMallocHost(&pinned, 64), "cudaMallocHost");
  report.code("cudaFreeHost", cudaFreeHost(pinned));
  report.device_code("cudaFreeHost again", cudaFreeHost(pinned));
  report.code("cudaMallocAsync", cudaMallocAsync(&data, sizeof(int), stream));
  report.code("fill it", cudaMemsetAsync(data, 0, sizeof(int), stream));
  report.code("cudaFreeAsync", cudaFreeAsync(data, stream));
  report.code("wait", cudaStreamSynchronize(stream));
  report.device_code("cudaFreeAsync again", cudaFreeAsync(data, stream));
}

// Holds a stream back until it is opened, or until ten seconds are over.
struct Gate {
  std::atomic<bool> open{false};
  static void hold(void* gate) {
    const auto end = std::chrono::steady_clock::now() + std::chrono::seconds(10);
    while (!static_cast<Gate*>(gate)->open && std::chrono::steady_clock::now() < end) {
      std::this_thread::yield();
    }
  }
};

void elapsed_times(Report& report) {
  Stream stream;
  const DeviceInts data;
  const Event begin, end, never, untimed(Timing::off);
  float milliseconds = -1;
  Gate gate;
  must(cudaEventRecord(begin, stream), "cudaEventRecord");
  must(cudaLaunchHostFunc(stream, Gate::hold, &gate), "cudaLaunchHostFunc");
  must(launch_slow_increment(stream, data.data()), "launch");
  must(cudaEventRecord(untimed, stream), "cudaEventRecord");
  must(cudaEventRecord(end, stream), "cudaEventRecord");
  report.code("time to an event that is not finished",
              cudaEventElapsedTime(&milliseconds, begin, end));
  report.code("query it", cudaEventQuery(end));
  report.code("query its stream", cudaStreamQuery(stream));
  gate.open = true;
  report.code("wait for it", cudaEventSynchronize(end));
  report.code("query it", cudaEventQuery(end));
  report.code("time to it", cudaEventElapsedTime(&milliseconds, begin, end));
  report.value("which is more than nothing", yes(milliseconds > 0));
  report.code("time to an event never recorded", cudaEventElapsedTime(&milliseconds, begin, never));
  report.code("time to an event without timing",
              cudaEventElapsedTime(&milliseconds, begin, untimed));
  report.code("query an event never recorded", cudaEventQuery(never));
  report.code("wait for one", cudaEventSynchronize(never));
}

constexpr std::array kRules = {
    Rule{29, "asynchronous copies of pageable memory", pageable_copies},
    Rule{30, "pageable memory in a capture", pageable_in_capture},
    Rule{31, "frees of memory in use, and second ones", frees},
    Rule{32, "elapsed time", elapsed_times},
};

}  // namespace

std::span<const Rule> rules_of_memory() { return kRules; }

}  // namespace stepscope::probe
