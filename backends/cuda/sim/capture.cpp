// capture: begin, end, and how streams and events move through a capture (rules 1 to 3, 12, 14 to
// 19, 23). What a capture forbids to other calls is capture_refusals.cpp.
// SPDX-License-Identifier: Apache-2.0
#include "backends/cuda/sim/capture.h"

#include <fmt/format.h>

#include <algorithm>
#include <unordered_set>
#include <utility>

#include "backends/cuda/sim/capture_state.h"
#include "backends/cuda/sim/graph_memory.h"
#include "backends/cuda/sim/lint.h"
#include "backends/cuda/sim/memory.h"

namespace stepscope::cudasim {

CaptureState& capture_state() {
  static CaptureState& state = *new CaptureState;
  return state;
}

namespace {

// What an event holds of a capture in which it was recorded.
struct Mark {
  std::shared_ptr<Capture> capture;
  std::vector<CUgraphNode_st*> at;
};
const Mark& mark_of(const CUevent_st& event) {
  return *static_cast<const Mark*>(event.captured.get());
}

std::shared_ptr<Capture> shared(const Capture& capture) {
  const auto& live = capture_state().live;
  return *std::find_if(live.begin(), live.end(),
                       [&](const auto& other) { return other.get() == &capture; });
}

void stand_at(Branch& branch, std::vector<CUgraphNode_st*> nodes) {
  branch.at = std::move(nodes);
  branch.edges.assign(branch.at.size(), cudaGraphEdgeData{});
}

void join(const std::shared_ptr<Capture>& capture, CUstream_st& stream,
          std::vector<CUgraphNode_st*> nodes) {
  stream.capture = capture.get();
  Branch& branch = *capture->branches.emplace_back(std::make_unique<Branch>());
  branch.stream = &stream;
  stand_at(branch, std::move(nodes));
}

// Rule 18: every other stream stands at nodes that the origin's next one would follow.
bool all_joined(const Capture& capture) {
  std::vector<const CUgraphNode_st*> ahead(capture.branches.front()->at.begin(),
                                           capture.branches.front()->at.end());
  std::unordered_set<const CUgraphNode_st*> reached;
  while (!ahead.empty()) {
    const CUgraphNode_st* const node = ahead.back();
    ahead.pop_back();
    if (!reached.insert(node).second) continue;
    ahead.insert(ahead.end(), node->after.begin(), node->after.end());
  }
  for (const auto& branch : capture.branches) {
    for (const CUgraphNode_st* node : branch->at) {
      if (!reached.contains(node)) return false;
    }
  }
  return true;
}

// Takes all streams out of the capture.
void leave(Capture& capture, bool keep_graph) {
  const std::shared_ptr<Capture> held = shared(capture);
  for (const auto& branch : capture.branches) branch->stream->capture = nullptr;
  capture.ended = true;
  capture.branches.clear();
  if (capture.owns_graph && !keep_graph) destroy_graph(*capture.graph);
  std::erase(capture_state().live, held);
}

void note_captured(const Work& work) {
  if (const auto* kernel = std::get_if<KernelCall>(&work)) {
    const auto key = reinterpret_cast<std::uintptr_t>(kernel->function);
    if (!was_used(key)) {
      note(Lint::first_use_in_capture,
           fmt::format("a kernel ({}) was first launched inside a capture; launch it once before",
                       kernel->function));
    }
  }
  if (const auto* library = std::get_if<LibraryCall>(&work)) {
    if (!was_used(library->problem)) {
      note(Lint::first_use_in_capture,
           fmt::format("{} met a problem ({:#x}) first inside a capture; run it once before",
                       library->name, library->problem));
    }
  }
}

// Rule 15, and the strict reading of an event that outlived its capture.
cudaError_t refuse_isolated(CUstream_st& stream, const char* what) {
  if (stream.capture != nullptr) {
    invalidate(*stream.capture, fmt::format("stream {} was to wait for {}", stream.id, what));
  }
  return cudaErrorStreamCaptureIsolation;
}

cudaError_t wait_in_capture(Capture& capture, CUstream_st& stream, const Mark& mark) {
  if (mark.capture.get() != &capture) {
    const auto why = fmt::format("stream {} was to wait for an event of capture {} while in {}",
                                 stream.id, mark.capture->id, capture.id);
    invalidate(capture, why);
    invalidate(*mark.capture, why);
    return cudaErrorStreamCaptureMerge;
  }
  Branch& branch = branch_of(capture, stream);
  std::vector<CUgraphNode_st*> at = branch.at;
  for (CUgraphNode_st* node : mark.at) {
    if (std::find(at.begin(), at.end(), node) == at.end()) at.push_back(node);
  }
  stand_at(branch, std::move(at));
  return cudaSuccess;
}

}  // namespace

cudaError_t begin_capture(CUstream_st& stream, cudaStreamCaptureMode mode, CaptureStart start) {
  if (stream.legacy) return cudaErrorStreamCaptureUnsupported;
  if (stream.capture != nullptr) {
    return stream.capture->invalid.empty() ? cudaErrorIllegalState
                                           : cudaErrorStreamCaptureInvalidated;
  }
  CaptureState& state = capture_state();
  const auto& capture = state.live.emplace_back(std::make_shared<Capture>());
  capture->id = state.next_id++;
  capture->mode = mode;
  capture->thread = this_thread();
  capture->origin = &stream;
  capture->owns_graph = start.graph == nullptr;
  capture->graph = capture->owns_graph ? &make_graph() : start.graph;
  join(capture, stream, std::move(start.behind));
  return cudaSuccess;
}

cudaError_t end_capture(CUstream_st& stream, CUgraph_st** graph) {
  *graph = nullptr;
  if (stream.capture == nullptr) return cudaErrorIllegalState;
  Capture& capture = *stream.capture;
  if (capture.origin != &stream) {
    invalidate(capture,
               fmt::format("cudaStreamEndCapture on stream {}, which only joined; it began "
                           "in stream {}",
                           stream.id, capture.origin->id));
    return cudaErrorStreamCaptureUnmatched;
  }
  if (capture.mode != cudaStreamCaptureModeRelaxed && capture.thread != this_thread()) {
    return cudaErrorStreamCaptureWrongThread;
  }
  cudaError_t result = cudaSuccess;
  if (!capture.invalid.empty()) {
    result = cudaErrorStreamCaptureInvalidated;
  } else if (!all_joined(capture)) {
    result = cudaErrorStreamCaptureUnjoined;
  } else {
    *graph = capture.graph;
  }
  leave(capture, result == cudaSuccess);
  return result;
}

Branch& branch_of(Capture& capture, const CUstream_st& stream) {
  return **std::find_if(capture.branches.begin(), capture.branches.end(),
                        [&](const auto& branch) { return branch->stream == &stream; });
}

bool captures_into(const CUgraph_st& graph) {
  const auto& live = capture_state().live;
  return std::any_of(live.begin(), live.end(),
                     [&](const auto& capture) { return capture->graph == &graph; });
}

cudaError_t capture_work(CUstream_st& stream, Work work) {
  Capture& capture = *stream.capture;
  if (!capture.invalid.empty()) return cudaErrorStreamCaptureInvalidated;
  if (const cudaError_t refused = admit_memory_node(*capture.graph, work)) return refused;
  note_captured(work);
  Branch& branch = branch_of(capture, stream);
  CUgraphNode_st& node =
      add_node(*capture.graph, std::make_shared<const Work>(std::move(work)), branch.at);
  stand_at(branch, {&node});
  return cudaSuccess;
}

cudaError_t capture_record(CUstream_st& stream, CUevent_st& event) {
  Capture& capture = *stream.capture;
  if (!capture.invalid.empty()) return cudaErrorStreamCaptureInvalidated;
  event.captured =
      std::make_shared<const Mark>(Mark{shared(capture), branch_of(capture, stream).at});
  event.task.reset();
  return cudaSuccess;
}

cudaError_t capture_wait(CUstream_st& stream, CUevent_st& event) {
  if (stream.capture != nullptr && !stream.capture->invalid.empty()) {
    return cudaErrorStreamCaptureInvalidated;
  }
  if (!is_captured(event)) return refuse_isolated(stream, "an event recorded outside its capture");
  const Mark& mark = mark_of(event);
  if (mark.capture->ended) return refuse_isolated(stream, "an event of a capture that has ended");
  if (!mark.capture->invalid.empty()) return cudaErrorStreamCaptureInvalidated;
  if (stream.capture != nullptr) return wait_in_capture(*stream.capture, stream, mark);
  if (stream.legacy) {
    invalidate(*mark.capture, "the legacy stream was to wait for an event of it");
    return cudaErrorStreamCaptureUnsupported;
  }
  join(mark.capture, stream, mark.at);  // rule 14
  return cudaSuccess;
}

bool is_captured(const CUevent_st& event) { return event.captured != nullptr; }

cudaError_t refuse_event(CUevent_st& event) {
  Capture& capture = *mark_of(event).capture;
  if (!capture.ended) {
    if (!capture.invalid.empty()) return cudaErrorStreamCaptureInvalidated;
    invalidate(capture, fmt::format("event {} of it was waited for, queried or timed", event.id));
  }
  return cudaErrorCapturedEvent;
}

void forget_stream(CUstream_st& stream) {
  Capture& capture = *stream.capture;
  invalidate(capture, fmt::format("stream {} of it was destroyed", stream.id));
  if (capture.origin == &stream) return leave(capture, false);  // nobody could end it any more
  std::erase_if(capture.branches, [&](const auto& branch) { return branch->stream == &stream; });
  stream.capture = nullptr;
}

}  // namespace stepscope::cudasim
