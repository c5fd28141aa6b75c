// Rules 26 and 27: what an executable can be updated to.
// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <array>
#include <functional>
#include <string_view>

#include "tests/backends/cuda/probe/kernels.h"
#include "tests/backends/cuda/probe/rules.h"
#include "tests/backends/cuda/probe/scene.h"

namespace stepscope::probe {
namespace {

using Record = std::function<void(Stream&)>;

// Captures `now`, updates the executable with it.
void update(Report& report, std::string_view what, cudaGraphExec_t executable, const Record& now,
            Settled settled = Settled::by_documents) {
  Stream stream;
  stream.begin();
  now(stream);
  const Graph graph(stream);
  cudaGraphExecUpdateResultInfo info{};
  const cudaError_t error = cudaGraphExecUpdate(executable, graph, &info);
  report.code(fmt::format("update to {}", what), error, settled);
  report.value("  which says", name_of(info.result), settled);
}

// `other` must live until the capture has ended.
void two_in_parallel(Stream& stream, Stream& other, int* data) {
  const Event forked, joined;
  must(cudaEventRecord(forked, stream), "cudaEventRecord");
  must(cudaStreamWaitEvent(other, forked, 0), "cudaStreamWaitEvent");
  must(launch_add(stream, data, 1), "launch");
  must(launch_add(other, data, 1), "launch");
  must(cudaEventRecord(joined, other), "cudaEventRecord");
  must(cudaStreamWaitEvent(stream, joined, 0), "cudaStreamWaitEvent");
}

void updates(Report& report) {
  Stream stream, other;
  const DeviceInts data;
  const auto add = [&](int amount) {
    return [&data, amount](Stream& s) { must(launch_add(s, data.data(), amount), "launch"); };
  };
  const auto twice = [&](Stream& s) {
    must(launch_add(s, data.data(), 1), "launch");
    must(launch_add(s, data.data(), 1), "launch");
  };
  stream.begin();
  twice(stream);
  const Graph chain(stream);
  const Executable executable(chain);
  update(report, "the same with other arguments", executable, [&](Stream& s) {
    add(10)(s);
    add(20)(s);
  });
  must(cudaGraphLaunch(executable, stream), "cudaGraphLaunch");
  report.value("the value after a launch, 10 and 20 added", data.first());
  update(report, "one node less", executable, add(1));
  update(report, "one node more", executable, [&](Stream& s) {
    twice(s);
    add(1)(s);
  });
  update(report, "a fill in place of a kernel", executable, [&](Stream& s) {
    must(launch_add(s, data.data(), 1), "launch");
    must(cudaMemsetAsync(data.data(), 0, data.bytes(), s), "cudaMemsetAsync");
  });
  update(report, "the same nodes without the edge between", executable,
         [&](Stream& s) { two_in_parallel(s, other, data.data()); });
  update(report, "another kernel", executable, [&](Stream& s) {
    must(launch_add(s, data.data(), 0), "launch");
    must(launch_scale_add(s, data.data(), 2, 5), "launch");
  });
  report.code("launch", cudaGraphLaunch(executable, stream));
  report.value("the value after it, *2+5", data.first());
}

void captured_copies(Report& report) {
  Stream stream;
  const DeviceInts from(4, 64), to(0, 64), other(6, 64);
  void* pinned = nullptr;
  must(cudaMallocHost(&pinned, to.bytes()), "cudaMallocHost");
  const auto copy = [&](void* target, const void* source, std::size_t bytes) {
    return [=](Stream& s) {
      must(cudaMemcpyAsync(target, source, bytes, cudaMemcpyDefault, s), "cudaMemcpyAsync");
    };
  };
  stream.begin();
  copy(to.data(), from.data(), to.bytes())(stream);
  const Graph graph(stream);
  const Executable executable(graph);
  update(report, "a copy from another block", executable,
         copy(to.data(), other.data(), to.bytes()));
  update(report, "a shorter copy", executable, copy(to.data(), from.data(), 64));
  update(report, "a copy from pinned memory", executable, copy(to.data(), pinned, to.bytes()),
         Settled::by_device);
  must(cudaFreeHost(pinned), "cudaFreeHost");
}

void copy_nodes(Report& report) {
  Stream stream;
  const DeviceInts from(4, 64), to(0, 64), other(6, 64);
  const Graph graph;
  cudaGraphNode_t node = nullptr;
  must(cudaGraphAddMemcpyNode1D(&node, graph, nullptr, 0, to.data(), from.data(), 64,
                                cudaMemcpyDeviceToDevice),
       "cudaGraphAddMemcpyNode1D");
  const Executable executable(graph);
  const auto set = [&](void* target, const void* source, std::size_t bytes, cudaMemcpyKind kind) {
    return cudaGraphExecMemcpyNodeSetParams1D(executable, node, target, source, bytes, kind);
  };
  report.code("set a copy node's source",
              set(to.data(), other.data(), 64, cudaMemcpyDeviceToDevice));
  report.code("its size", set(to.data(), other.data(), 32, cudaMemcpyDeviceToDevice));
  report.device_code("its size to 0", set(to.data(), other.data(), 0, cudaMemcpyDeviceToDevice));
  void* pinned = nullptr;
  must(cudaMallocHost(&pinned, 64), "cudaMallocHost");
  report.device_code("its target to pinned memory",
                     set(pinned, other.data(), 64, cudaMemcpyDeviceToHost));
  report.code("launch", cudaGraphLaunch(executable, stream));
  report.device_value("the value, 6 copied", fmt::to_string(to.first()));
  must(cudaFreeHost(pinned), "cudaFreeHost");
}

cudaMemsetParams fill_of(const DeviceInts& data, unsigned value, std::size_t width,
                         std::size_t height) {
  cudaMemsetParams fill{};
  fill.dst = data.data();
  fill.value = value;
  fill.elementSize = sizeof(int);
  fill.width = width;
  fill.height = height;
  fill.pitch = 16 * sizeof(int);
  return fill;
}

void fill_nodes(Report& report) {
  Stream stream;
  const DeviceInts data(0, 64);
  for (const std::size_t height : {std::size_t{1}, std::size_t{2}}) {
    const Graph graph;
    cudaGraphNode_t node = nullptr;
    const cudaMemsetParams at_first = fill_of(data, 1, 8, height);
    must(cudaGraphAddMemsetNode(&node, graph, nullptr, 0, &at_first), "cudaGraphAddMemsetNode");
    const Executable executable(graph);
    const auto set = [&](unsigned value, std::size_t width, std::size_t rows) {
      const cudaMemsetParams fill = fill_of(data, value, width, rows);
      return cudaGraphExecMemsetNodeSetParams(executable, node, &fill);
    };
    const auto which = height == 1 ? "one row" : "two rows";
    report.code(fmt::format("set the value of a fill of {}", which), set(9, 8, height));
    report.code(fmt::format("the width of a fill of {}", which), set(9, 4, height),
                height == 1 ? Settled::by_device : Settled::by_documents);
    report.code(fmt::format("the height of a fill of {}", which), set(9, 8, height + 1));
    report.code("launch", cudaGraphLaunch(executable, stream));
    report.value("the value", data.first());
  }
}

void copies_and_fills(Report& report) {
  captured_copies(report);
  copy_nodes(report);
  fill_nodes(report);
}

constexpr std::array kRules = {
    Rule{26, "updating an executable", updates},
    Rule{27, "updating copy and fill nodes", copies_and_fills},
};

}  // namespace

std::span<const Rule> rules_of_updates() { return kRules; }

}  // namespace stepscope::probe
