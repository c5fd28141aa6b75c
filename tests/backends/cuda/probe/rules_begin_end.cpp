// Rules 1, 2, 3, 17, 18, 19, 23: how a capture begins and ends, and what it does not run.
// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <array>
#include <thread>

#include "tests/backends/cuda/probe/kernels.h"
#include "tests/backends/cuda/probe/rules.h"
#include "tests/backends/cuda/probe/scene.h"

namespace stepscope::probe {
namespace {

cudaError_t launch_untyped(cudaStream_t stream, int* data, int& amount) {
  cudaLaunchConfig_t config{};
  config.gridDim = config.blockDim = dim3(1);
  config.stream = stream;
  void* arguments[] = {&data, &amount};
  return cudaLaunchKernelExC(&config, add_kernel(), arguments);
}

void nothing_runs(Report& report) {
  Stream stream;
  const DeviceInts data(3);
  int amount = 5;
  report.code("begin on a stream", cudaStreamBeginCapture(stream, cudaStreamCaptureModeGlobal));
  report.code("launch into the capture", launch_untyped(stream, data.data(), amount));
  amount = 1000;  // too late: the launch has copied it
  cudaGraph_t graph = nullptr;
  report.code("end", cudaStreamEndCapture(stream, &graph));
  report.value("the value, 3 before", data.first());
  report.value("nodes of the graph", [&] {
    std::size_t count = 0;
    must(cudaGraphGetNodes(graph, nullptr, &count), "cudaGraphGetNodes");
    return static_cast<long long>(count);
  }());
  {
    const Executable executable(graph);
    report.code("launch the graph", cudaGraphLaunch(executable, stream));
    report.code("wait", cudaStreamSynchronize(stream));
  }
  report.value("the value after it, with the 5 of the launch", data.first());
  cudaGraphDestroy(graph);
}

void legacy_begin(Report& report) {
  cudaGraph_t graph = nullptr;
  report.device_code("begin on stream 0",
                     cudaStreamBeginCapture(nullptr, cudaStreamCaptureModeGlobal));
  report.device_code("begin on cudaStreamLegacy",
                     cudaStreamBeginCapture(cudaStreamLegacy, cudaStreamCaptureModeGlobal));
  report.code("begin on cudaStreamPerThread",
              cudaStreamBeginCapture(cudaStreamPerThread, cudaStreamCaptureModeGlobal));
  report.code("end of that", cudaStreamEndCapture(cudaStreamPerThread, &graph));
  cudaGraphDestroy(graph);
}

void begin_and_end_twice(Report& report) {
  Stream stream;
  stream.begin();
  report.device_code("begin on a stream that captures",
                     cudaStreamBeginCapture(stream, cudaStreamCaptureModeGlobal));
  report.value("its capture is then", status_of_capture(stream), Settled::by_device);
  report.device_code("end", stream.end());
  report.code("end on a stream that does not capture", stream.end());
}

void end_on_joined(Report& report) {
  Stream origin, other;
  const Event forked, joined;
  origin.begin();
  report.code("record in the capture", cudaEventRecord(forked, origin));
  report.code("another stream waits for it", cudaStreamWaitEvent(other, forked, 0));
  cudaGraph_t graph = nullptr;
  report.code("end on that other stream", cudaStreamEndCapture(other, &graph));
  report.value("the capture is then", status_of_capture(origin));
  report.code("end on the origin", cudaStreamEndCapture(origin, &graph));
  report.value("its graph is null", yes(graph == nullptr));
}

void unjoined(Report& report) {
  Stream origin, other;
  const Event forked;
  const DeviceInts data;
  origin.begin();
  must(cudaEventRecord(forked, origin), "cudaEventRecord");
  must(cudaStreamWaitEvent(other, forked, 0), "cudaStreamWaitEvent");
  report.code("launch on the forked stream", launch_add(other, data.data(), 1));
  cudaGraph_t graph = nullptr;
  report.code("end on the origin, without a join", cudaStreamEndCapture(origin, &graph));
  report.value("its graph is null", yes(graph == nullptr));
  report.value("the origin captures", status_of_capture(origin));
  report.value("the forked stream captures", status_of_capture(other));
}

void end_elsewhere(Report& report) {
  for (const auto mode : {cudaStreamCaptureModeGlobal, cudaStreamCaptureModeThreadLocal,
                          cudaStreamCaptureModeRelaxed}) {
    Stream stream;
    stream.begin(mode);
    cudaError_t ended = cudaSuccess;
    std::thread([&] { ended = stream.end(); }).join();
    report.code(fmt::format("end in another thread, mode {}", name_of(mode)), ended);
    if (mode != cudaStreamCaptureModeRelaxed) {
      report.device_code("  then end in the thread that began", stream.end());
    }
  }
}

void after_a_capture(Report& report) {
  Stream stream;
  const DeviceInts data(2);
  report.code("*3+1 on the stream", launch_scale_add(stream, data.data(), 3, 1));
  stream.begin();
  report.code("*0+9 in a capture", launch_scale_add(stream, data.data(), 0, 9));
  report.code("end", stream.end());
  report.code("*10+4 on the stream", launch_scale_add(stream, data.data(), 10, 4));
  report.value("the value, 2 before, (2*3+1)*10+4 in order", data.first());
}

constexpr std::array kRules = {
    Rule{1, "a stream in capture executes nothing; arguments are copied", nothing_runs},
    Rule{2, "begin on the legacy stream", legacy_begin},
    Rule{3, "begin on a capturing stream, end on one that does not capture", begin_and_end_twice},
    Rule{17, "end on a stream that joined", end_on_joined},
    Rule{18, "end with a fork that was not joined", unjoined},
    Rule{19, "end in another thread", end_elsewhere},
    Rule{23, "what follows a capture in its stream", after_a_capture},
};

}  // namespace

std::span<const Rule> rules_of_begin_and_end() { return kRules; }

}  // namespace stepscope::probe
