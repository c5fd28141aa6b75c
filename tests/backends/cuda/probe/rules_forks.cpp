// Rules 14, 15, 16: what a wait for an event does to a capture.
// SPDX-License-Identifier: Apache-2.0
#include <array>

#include "tests/backends/cuda/probe/kernels.h"
#include "tests/backends/cuda/probe/rules.h"
#include "tests/backends/cuda/probe/scene.h"

namespace stepscope::probe {
namespace {

unsigned long long capture_id(cudaStream_t stream) {
  cudaStreamCaptureStatus status{};
  unsigned long long id = 0;
  must(cudaStreamGetCaptureInfo(stream, &status, &id, nullptr, nullptr, nullptr, nullptr),
       "cudaStreamGetCaptureInfo");
  return id;
}

void fork_and_join(Report& report) {
  Stream origin, other;
  const Event forked, joined;
  const DeviceInts left(1), right(2);
  origin.begin();
  report.code("launch on the origin", launch_add(origin, left.data(), 1));
  report.code("record on it", cudaEventRecord(forked, origin));
  report.code("another stream waits", cudaStreamWaitEvent(other, forked, 0));
  report.value("it captures", status_of_capture(other));
  report.value("the same capture", yes(capture_id(origin) == capture_id(other)));
  report.code("launch on it", launch_add(other, right.data(), 10));
  report.code("launch on the origin", launch_add(origin, left.data(), 100));
  report.code("record on the other", cudaEventRecord(joined, other));
  report.code("the origin waits", cudaStreamWaitEvent(origin, joined, 0));
  report.code("launch on the origin", launch_add(origin, right.data(), 1000));
  cudaGraph_t captured = nullptr;
  report.code("end", cudaStreamEndCapture(origin, &captured));
  std::size_t nodes = 0, edges = 0;
  must(cudaGraphGetNodes(captured, nullptr, &nodes), "cudaGraphGetNodes");
  must(cudaGraphGetEdges(captured, nullptr, nullptr, nullptr, &edges), "cudaGraphGetEdges");
  report.value("nodes", static_cast<long long>(nodes));
  report.value("edges", static_cast<long long>(edges));
  report.value("the other stream captures", status_of_capture(other));
  {
    const Executable executable(captured);
    report.code("launch the graph", cudaGraphLaunch(executable, origin));
    report.value("left, 1 before, 101 added", left.first());
    report.value("right, 2 before, 1010 added", right.first());
  }
  cudaGraphDestroy(captured);
}

void wait_for_outside(Report& report) {
  Stream outside, stream;
  const Event event;
  report.code("record on a stream that does not capture", cudaEventRecord(event, outside));
  stream.begin();
  report.code("a capturing stream waits for it", cudaStreamWaitEvent(stream, event, 0));
  report.value("its capture is then", status_of_capture(stream), Settled::by_device);
  report.device_code("end", stream.end());
  const Event never;
  stream.begin();
  report.device_code("a capturing stream waits for an event never recorded",
                     cudaStreamWaitEvent(stream, never, 0));
  report.device_code("end", stream.end());
}

void merge(Report& report) {
  Stream first, second;
  const Event event;
  first.begin();
  second.begin();
  report.code("record in the first capture", cudaEventRecord(event, first));
  report.code("a stream of the second waits", cudaStreamWaitEvent(second, event, 0));
  report.value("the first capture is then", status_of_capture(first), Settled::by_device);
  report.value("the second capture is then", status_of_capture(second), Settled::by_device);
  report.device_code("end of the first", first.end());
  report.device_code("end of the second", second.end());
}

constexpr std::array kRules = {
    Rule{14, "a wait for a captured event pulls a stream into the capture", fork_and_join},
    Rule{15, "a capturing stream waits for an event outside", wait_for_outside},
    Rule{16, "a wait that would merge two captures", merge},
};

}  // namespace

std::span<const Rule> rules_of_forks() { return kRules; }

}  // namespace stepscope::probe
