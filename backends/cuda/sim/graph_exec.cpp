// graph_exec: instantiation, upload and launches.
// SPDX-License-Identifier: Apache-2.0
#include "backends/cuda/sim/graph_exec.h"

#include <algorithm>
#include <cstring>
#include <memory>
#include <optional>
#include <queue>
#include <utility>

#include "backends/cuda/sim/capture.h"
#include "backends/cuda/sim/clock.h"
#include "backends/cuda/sim/graph_memory.h"
#include "backends/cuda/sim/lint.h"

namespace stepscope::cudasim {
namespace {

struct Executables {
  std::vector<std::unique_ptr<CUgraphExec_st>> live;
  std::vector<std::unique_ptr<CUgraphExec_st>> dead;  // as graphs do, they keep their addresses
  unsigned next = 1;
};
Executables& executables() {
  static Executables& executables = *new Executables;
  return executables;
}

// Each behind what it follows, of several the one that was made first; nothing for a cycle.
std::optional<std::vector<std::size_t>> sorted(const std::vector<ExecNode>& nodes) {
  std::vector<std::size_t> waits(nodes.size());
  std::vector<std::vector<std::size_t>> behind(nodes.size());
  std::priority_queue<std::size_t, std::vector<std::size_t>, std::greater<>> ready;
  for (std::size_t i = 0; i < nodes.size(); ++i) {
    waits[i] = nodes[i].after.size();
    for (const std::size_t j : nodes[i].after) behind[j].push_back(i);
    if (waits[i] == 0) ready.push(i);
  }
  std::vector<std::size_t> order;
  while (!ready.empty()) {
    const std::size_t i = ready.top();
    ready.pop();
    order.push_back(i);
    for (const std::size_t j : behind[i]) {
      if (--waits[j] == 0) ready.push(j);
    }
  }
  if (order.size() != nodes.size()) return std::nullopt;
  return order;
}

WorkRef nothing() {
  static const WorkRef& work = *new WorkRef(std::make_shared<const Work>(Nothing{}));
  return work;
}

std::vector<TaskRef> ahead_of(const CUgraphExec_st& exec, const CUstream_st& stream) {
  std::vector<TaskRef> after = follows(stream);
  if (exec.last != nullptr) after.push_back(exec.last);
  return after;
}

void note_uses(const CUgraphExec_st& exec) {
  for (const ExecNode& node : exec.nodes) {
    if (const auto* kernel = std::get_if<KernelCall>(node.work.get())) {
      note_use(reinterpret_cast<std::uintptr_t>(kernel->function));
    }
    if (const auto* library = std::get_if<LibraryCall>(node.work.get())) note_use(library->problem);
  }
}

// The tasks of all nodes behind `begin`; returns those that nothing follows.
std::vector<TaskRef> submit_nodes(const CUgraphExec_st& exec, const TaskRef& begin) {
  std::vector<TaskRef> tasks(exec.nodes.size());
  std::vector<bool> followed(exec.nodes.size());
  for (const std::size_t i : exec.order) {
    std::vector<TaskRef> after;
    for (const std::size_t j : exec.nodes[i].after) {
      after.push_back(tasks[j]);
      followed[j] = true;
    }
    if (after.empty()) after.push_back(begin);
    tasks[i] = submit_task(exec.nodes[i].work, std::move(after), true);
  }
  std::vector<TaskRef> ends;
  for (std::size_t i = 0; i < tasks.size(); ++i) {
    if (!followed[i]) ends.push_back(tasks[i]);
  }
  if (ends.empty()) ends.push_back(begin);
  return ends;
}

bool overlaps(const void* data, std::size_t bytes, const void* from, std::size_t size) {
  const auto begin = reinterpret_cast<std::uintptr_t>(data);
  const auto at = reinterpret_cast<std::uintptr_t>(from);
  return at < begin + bytes && begin < at + std::max<std::size_t>(size, 1);
}

bool holds(const Work& work, const void* data, std::size_t bytes) {
  if (const auto* kernel = std::get_if<KernelCall>(&work)) {
    bool held = false;
    for (const Parameter& parameter : kernel->signature->parameters) {
      each_word(parameter, kernel->arguments.data(), [&](std::size_t, const void* word) {
        held = held || overlaps(data, bytes, word, 1);
      });
    }
    return held;
  }
  if (const auto* copy = std::get_if<Copy>(&work)) {
    return overlaps(data, bytes, copy->to, copy->bytes) ||
           overlaps(data, bytes, copy->from, copy->bytes);
  }
  if (const auto* fill = std::get_if<Fill>(&work)) return overlaps(data, bytes, fill->to, 1);
  if (const auto* library = std::get_if<LibraryCall>(&work)) {
    return std::any_of(library->touches.begin(), library->touches.end(), [&](const Extent& extent) {
      return overlaps(data, bytes, extent.data, extent.bytes);
    });
  }
  return false;
}

}  // namespace

CUgraphExec_st* executable_of(cudaGraphExec_t handle) {
  const auto& live = executables().live;
  const bool lives =
      std::any_of(live.begin(), live.end(), [&](const auto& exec) { return exec.get() == handle; });
  return lives ? handle : nullptr;
}

std::vector<CUgraphExec_st*> live_executables() {
  std::vector<CUgraphExec_st*> all;
  for (const auto& exec : executables().live) all.push_back(exec.get());
  return all;
}

cudaError_t instantiate(const CUgraph_st& graph, bool auto_free, CUgraphExec_st** made) {
  const std::vector<CUgraphExec_st*> live = live_executables();
  const bool second = std::any_of(live.begin(), live.end(),
                                  [&](const auto* exec) { return exec->graph == &graph; });
  if (second && has_memory_nodes(graph)) return cudaErrorInvalidValue;
  auto exec = std::make_unique<CUgraphExec_st>();
  exec->graph = &graph;
  exec->auto_free = auto_free;
  for (const auto& node : graph.nodes) {
    ExecNode& copy = exec->nodes.emplace_back();
    set_work(*exec, copy, node->work);
    for (const CUgraphNode_st* before : node->after) copy.after.push_back(before->id);
  }
  std::optional<std::vector<std::size_t>> order = sorted(exec->nodes);
  if (!order) return cudaErrorInvalidValue;
  exec->order = std::move(*order);
  exec->id = executables().next++;
  *made = executables().live.emplace_back(std::move(exec)).get();
  return cudaSuccess;
}

cudaError_t upload(CUgraphExec_st& exec, CUstream_st& stream) {
  if (const cudaError_t refused = refuse_uncapturable(stream)) return refused;
  if (const cudaError_t refused = refuse_legacy(stream)) return refused;
  exec.last = submit_task(nothing(), ahead_of(exec, stream), false);
  set_last(stream, exec.last);
  return cudaSuccess;
}

cudaError_t launch(CUgraphExec_st& exec, CUstream_st& stream) {
  if (stream.capture != nullptr) {
    invalidate(*stream.capture, "a graph launched in it; the simulator has no child graphs");
    return cudaErrorNotSupported;
  }
  if (const cudaError_t refused = refuse_legacy(stream)) return refused;
  std::vector<void*> leftovers;
  if (const cudaError_t refused = launch_graph_memory(exec, &leftovers)) return refused;
  move_host(costs().launch_graph +
            costs().launch_per_node * static_cast<Nanoseconds>(exec.nodes.size()));
  TaskRef begin = submit_task(nothing(), ahead_of(exec, stream), false);
  for (void* data : leftovers) {
    begin = submit_task(std::make_shared<const Work>(Release{data}), {begin}, false);
  }
  exec.last = submit_task(nothing(), submit_nodes(exec, begin), false);
  graph_memory_launched(exec);
  set_last(stream, exec.last);
  if (!exec.launched) note_uses(exec);
  exec.launched = true;
  count_graph_launch();
  return cudaSuccess;
}

void destroy_executable(CUgraphExec_st& exec) {
  Executables& all = executables();
  const auto at = std::find_if(all.live.begin(), all.live.end(),
                               [&](const auto& other) { return other.get() == &exec; });
  exec.nodes.clear();
  exec.last.reset();
  all.dead.push_back(std::move(*at));
  all.live.erase(at);
  drop_graph_memory(*exec.graph);
}

bool an_executable_holds(const void* data, std::size_t bytes) {
  for (const auto& exec : executables().live) {
    for (const ExecNode& node : exec->nodes) {
      if (holds(*node.work, data, bytes)) return true;
    }
  }
  return false;
}

void reset_executables() {
  executables().live.clear();
  executables().dead.clear();
  executables().next = 1;
}

}  // namespace stepscope::cudasim
