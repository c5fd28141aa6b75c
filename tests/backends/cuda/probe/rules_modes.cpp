// Rules 10 to 13: calls that a capture forbids, to whom, and what a refused call leaves behind.
// SPDX-License-Identifier: Apache-2.0
#include <cublasLt.h>
#include <fmt/format.h>

#include <array>
#include <cstddef>
#include <string_view>
#include <thread>

#include "tests/backends/cuda/probe/kernels.h"
#include "tests/backends/cuda/probe/rules.h"
#include "tests/backends/cuda/probe/scene.h"

namespace stepscope::probe {
namespace {

constexpr auto kGlobal = cudaStreamCaptureModeGlobal;
constexpr auto kThreadLocal = cudaStreamCaptureModeThreadLocal;
constexpr auto kRelaxed = cudaStreamCaptureModeRelaxed;

cudaError_t allocate() {
  void* data = nullptr;
  const cudaError_t error = cudaMalloc(&data, 64);
  if (error == cudaSuccess) {
    cudaFree(data);
  }
  return error;
}

cudaError_t allocate_pinned() {
  void* data = nullptr;
  const cudaError_t error = cudaMallocHost(&data, 64);
  if (error == cudaSuccess) {
    cudaFreeHost(data);
  }
  return error;
}

cudaError_t register_page() {
  alignas(4096) static std::byte page[4096];
  const cudaError_t error = cudaHostRegister(page, sizeof(page), cudaHostRegisterDefault);
  if (error == cudaSuccess) {
    cudaHostUnregister(page);
  }
  return error;
}

cublasStatus_t create_library() {
  cublasLtHandle_t handle = nullptr;
  const cublasStatus_t status = cublasLtCreate(&handle);
  if (status == CUBLAS_STATUS_SUCCESS) {
    cublasLtDestroy(handle);
  }
  return status;
}

// Each in a capture of its own, whose end tells whether it was invalidated.
template <class Use>
void in_capture(Report& report, std::string_view what, cudaStreamCaptureMode mode, Use use,
                Settled settled = Settled::by_documents) {
  Stream stream;
  stream.begin(mode);
  report.code(fmt::format("{}, mode {}", what, name_of(mode)), use(), settled);
  report.code("  then end", stream.end(), settled);
}

void unsafe_calls(Report& report) {
  void *device = nullptr, *pinned = nullptr;
  must(cudaMalloc(&device, 64), "cudaMalloc");
  must(cudaMallocHost(&pinned, 64), "cudaMallocHost");
  const Event event;
  must(cudaEventRecord(event, cudaStreamPerThread), "cudaEventRecord");
  must(cudaStreamSynchronize(cudaStreamPerThread), "cudaStreamSynchronize");
  for (const auto mode : {kGlobal, kThreadLocal}) {
    in_capture(report, "cudaMalloc", mode, allocate);
    in_capture(report, "cudaMallocHost", mode, allocate_pinned);
    in_capture(report, "cudaFree", mode, [&] { return cudaFree(device); });
    in_capture(report, "cudaFreeHost", mode, [&] { return cudaFreeHost(pinned); });
    in_capture(report, "cudaHostRegister", mode, register_page);
    in_capture(report, "cudaEventQuery of an event outside", mode,
               [&] { return cudaEventQuery(event); });
    in_capture(report, "cudaMemcpy", mode, [&] {
      int value = 0;
      return cudaMemcpy(device, &value, sizeof(value), cudaMemcpyHostToDevice);
    });
    in_capture(report, "cublasLtCreate", mode, create_library, Settled::by_device);
  }
  in_capture(report, "cudaMalloc", kRelaxed, allocate);
  in_capture(report, "cudaEventQuery of an event outside", kRelaxed,
             [&] { return cudaEventQuery(event); });
  cudaFreeHost(pinned);
  cudaFree(device);
}

// A malloc by a thread whose own mode is `own`, beside a capture of mode `capture`.
cudaError_t allocate_as(cudaStreamCaptureMode own) {
  cudaStreamCaptureMode mode = own;
  must(cudaThreadExchangeStreamCaptureMode(&mode), "cudaThreadExchangeStreamCaptureMode");
  const cudaError_t error = allocate();
  cudaGetLastError();
  must(cudaThreadExchangeStreamCaptureMode(&mode), "cudaThreadExchangeStreamCaptureMode");
  return error;
}

void mode_matrix(Report& report) {
  for (const auto capture : {kGlobal, kThreadLocal, kRelaxed}) {
    for (const auto own : {kGlobal, kThreadLocal, kRelaxed}) {
      in_capture(report, fmt::format("malloc, thread {}, capture its own", name_of(own)), capture,
                 [&] { return allocate_as(own); });
    }
    for (const auto own : {kGlobal, kThreadLocal, kRelaxed}) {
      in_capture(report, fmt::format("malloc, thread {}, capture another's", name_of(own)), capture,
                 [&] {
                   cudaError_t error = cudaSuccess;
                   std::thread([&] { error = allocate_as(own); }).join();
                   return error;
                 });
    }
  }
  cudaStreamCaptureMode mode = kRelaxed;
  report.code("exchange the thread's mode for relaxed", cudaThreadExchangeStreamCaptureMode(&mode));
  report.value("it was", name_of(mode));
  report.code("and back", cudaThreadExchangeStreamCaptureMode(&mode));
  report.value("it was", name_of(mode));
}

void after_invalidation(Report& report) {
  Stream origin, other;
  const Event forked, event;
  const DeviceInts data, more;
  origin.begin();
  must(cudaEventRecord(forked, origin), "cudaEventRecord");
  must(cudaStreamWaitEvent(other, forked, 0), "cudaStreamWaitEvent");
  report.code("wait for the capturing stream", cudaStreamSynchronize(origin));
  report.code("launch on it", launch_add(origin, data.data(), 1));
  report.code("copy on it", cudaMemcpyAsync(data.data(), more.data(), data.bytes(),
                                            cudaMemcpyDeviceToDevice, origin));
  report.code("fill on it", cudaMemsetAsync(data.data(), 0, data.bytes(), origin));
  report.code("launch on the forked stream", launch_add(other, data.data(), 1));
  report.code("record on it", cudaEventRecord(event, origin));
  {
    Stream third;
    report.device_code("a third stream waits for the captured event",
                       cudaStreamWaitEvent(third, forked, 0));
  }
  report.value("the forked stream captures", status_of_capture(other));
  cudaGraph_t graph = nullptr;
  report.code("end", cudaStreamEndCapture(origin, &graph));
  report.value("its graph is null", yes(graph == nullptr));
  report.value("the origin captures", status_of_capture(origin));
  report.value("the forked stream captures", status_of_capture(other));
  report.code("launch on the origin", launch_add(origin, data.data(), 1));
  report.code("launch on the forked stream", launch_add(other, more.data(), 1));
  report.value("the value, 0 before", data.first());
}

void missing_copy(Report& report) {
  Stream stream;
  const DeviceInts from(5), to(0);
  void* to_list[] = {to.data()};
  const void* from_list[] = {from.data()};
  std::size_t sizes[] = {to.bytes()}, first[] = {0};
  cudaMemcpyAttributes attributes{};
  attributes.srcAccessOrder = cudaMemcpySrcAccessOrderStream;
  const auto copy = [&] {
    return cudaMemcpyBatchAsync(to_list, from_list, sizes, 1, &attributes, first, 1, stream);
  };
  stream.begin();
  report.code("cudaMemcpyBatchAsync in a capture", copy());
  report.value("the capture is then", status_of_capture(stream));
  {
    const Graph graph(stream);
    report.value("nodes of its graph", static_cast<long long>(graph.nodes().size()));
  }
  report.code("cudaMemcpyBatchAsync outside", copy());
  report.value("the value, 0 before, 5 copied", to.first());
}

constexpr std::array kRules = {
    Rule{10, "potentially unsafe calls in a capture", unsafe_calls},
    Rule{11, "modes of captures and of threads", mode_matrix},
    Rule{12, "an invalidated capture", after_invalidation},
    Rule{13, "a refusal that leaves the capture valid", missing_copy},
};

}  // namespace

std::span<const Rule> rules_of_modes() { return kRules; }

}  // namespace stepscope::probe
