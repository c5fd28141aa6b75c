// Rules 4 to 9: waits and queries of what captures, and the legacy stream beside a capture.
// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <array>
#include <string_view>

#include "tests/backends/cuda/probe/kernels.h"
#include "tests/backends/cuda/probe/rules.h"
#include "tests/backends/cuda/probe/scene.h"

namespace stepscope::probe {
namespace {

void wait_for_stream(Report& report) {
  Stream stream;
  stream.begin();
  report.code("wait for a stream that captures", cudaStreamSynchronize(stream));
  report.value("its capture is then", status_of_capture(stream));
  cudaGraph_t graph = nullptr;
  report.code("end", cudaStreamEndCapture(stream, &graph));
  report.value("its graph is null", yes(graph == nullptr));
  report.code("wait for the stream again", cudaStreamSynchronize(stream));
}

void query_stream(Report& report) {
  Stream stream;
  stream.begin();
  report.device_code("query a stream that captures", cudaStreamQuery(stream));
  report.code("end", stream.end());
}

// Each in a capture of its own, whose end tells whether it was invalidated.
template <class Use>
void use_captured_event(Report& report, std::string_view what, cudaStreamCaptureMode mode,
                        Settled settled, Use use) {
  Stream stream;
  const Event event, outside;
  must(cudaEventRecord(outside, stream), "cudaEventRecord");
  must(cudaStreamSynchronize(stream), "cudaStreamSynchronize");
  stream.begin(mode);
  must(cudaEventRecord(event, stream), "cudaEventRecord in a capture");
  report.code(fmt::format("{}, mode {}", what, name_of(mode)), use(event, outside), settled);
  report.device_code("  then end", stream.end());
}

void captured_events(Report& report) {
  constexpr auto global = cudaStreamCaptureModeGlobal, relaxed = cudaStreamCaptureModeRelaxed;
  const auto wait = [](cudaEvent_t event, cudaEvent_t) { return cudaEventSynchronize(event); };
  const auto query = [](cudaEvent_t event, cudaEvent_t) { return cudaEventQuery(event); };
  const auto elapsed = [](cudaEvent_t event, cudaEvent_t outside) {
    float milliseconds = 0;
    return cudaEventElapsedTime(&milliseconds, outside, event);
  };
  use_captured_event(report, "wait for an event recorded in a capture", global,
                     Settled::by_documents, wait);
  use_captured_event(report, "wait for one", relaxed, Settled::by_documents, wait);
  // In mode global a query of any event is forbidden, too: which of the two codes comes is open.
  use_captured_event(report, "query one", global, Settled::by_device, query);
  use_captured_event(report, "query one", relaxed, Settled::by_documents, query);
  use_captured_event(report, "time from an event outside to one", global, Settled::by_documents,
                     elapsed);
}

void wait_for_device(Report& report) {
  for (const auto mode : {cudaStreamCaptureModeGlobal, cudaStreamCaptureModeRelaxed}) {
    Stream stream;
    stream.begin(mode);
    report.device_code(fmt::format("wait for the device beside a capture, mode {}", name_of(mode)),
                       cudaDeviceSynchronize());
    report.device_code("  then end", stream.end());
  }
}

// Mode relaxed, so that rule 10 does not answer first.
template <class Use>
void beside_blocking(Report& report, std::string_view what, Use use) {
  Stream stream(StreamKind::blocking);
  stream.begin(cudaStreamCaptureModeRelaxed);
  report.code(what, use());
  report.device_code("  then end", stream.end());
}

void legacy_beside_blocking(Report& report) {
  const DeviceInts data(1);
  int host = 7;
  const auto copy = [&] {
    return cudaMemcpy(data.data(), &host, sizeof(host), cudaMemcpyHostToDevice);
  };
  const auto fill = [&] { return cudaMemset(data.data(), 0, sizeof(host)); };
  const auto launch = [&] { return launch_add(nullptr, data.data(), 1); };
  const Event event;
  beside_blocking(report, "cudaMemcpy beside the capture of a blocking stream", copy);
  beside_blocking(report, "cudaMemset", fill);
  beside_blocking(report, "launch on stream 0", launch);
  beside_blocking(report, "record on stream 0", [&] { return cudaEventRecord(event, nullptr); });
  beside_blocking(report, "wait for stream 0", [] { return cudaStreamSynchronize(nullptr); });
  Stream stream(StreamKind::non_blocking);
  stream.begin(cudaStreamCaptureModeRelaxed);
  report.code("cudaMemcpy beside the capture of a non-blocking stream", copy());
  report.code("launch on stream 0", launch());
  report.code("  then end", stream.end());
  report.value("the value, 7 copied and 1 added", data.first());
}

void legacy_is_capturing(Report& report) {
  Stream stream(StreamKind::blocking);
  stream.begin();
  cudaStreamCaptureStatus status{};
  report.code("cudaStreamIsCapturing(0) beside the capture of a blocking stream",
              cudaStreamIsCapturing(nullptr, &status));
  report.value("that capture is then", status_of_capture(stream));
  report.code(
      "cudaStreamGetCaptureInfo(0)",
      cudaStreamGetCaptureInfo(nullptr, &status, nullptr, nullptr, nullptr, nullptr, nullptr));
  report.code("end", stream.end());
  report.value("stream 0 captures afterwards", status_of_capture(nullptr));
}

constexpr std::array kRules = {
    Rule{4, "wait for a stream that captures", wait_for_stream},
    Rule{5, "query a stream that captures", query_stream},
    Rule{6, "wait, query, time of an event last recorded in a capture", captured_events},
    Rule{7, "wait for the device beside a capture", wait_for_device},
    Rule{8, "the legacy stream beside the capture of a blocking stream", legacy_beside_blocking},
    Rule{9, "asking whether the legacy stream captures", legacy_is_capturing},
};

}  // namespace

std::span<const Rule> rules_of_waits() { return kRules; }

}  // namespace stepscope::probe
