// stream: the streams and events there are, and what work given to a stream follows.
// SPDX-License-Identifier: Apache-2.0
#include "backends/cuda/sim/stream.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>

#include "backends/cuda/sim/call.h"
#include "backends/cuda/sim/capture.h"
#include "backends/cuda/sim/clock.h"
#include "backends/cuda/sim/lint.h"
#include "backends/cuda/sim/objects.h"
#include "backends/cuda/sim/schedule.h"

namespace stepscope::cudasim {
namespace {

// Handles of destroyed ones are kept until reset(): their addresses must not become new handles.
template <class Object>
struct Handles {
  std::vector<std::unique_ptr<Object>> made;
  std::vector<Object*> live;  // in order of creation

  Object& make() {
    made.push_back(std::make_unique<Object>());
    live.push_back(made.back().get());
    return *made.back();
  }
  Object* find(Object* handle) const {
    return std::find(live.begin(), live.end(), handle) != live.end() ? handle : nullptr;
  }
};

struct Streams {
  CUstream_st legacy{.legacy = true};
  Handles<CUstream_st> streams;
  std::map<std::uint64_t, CUstream_st*> of_threads;  // this_thread()
  std::vector<TaskRef> orphans;  // last tasks of blocking streams that were destroyed
  Handles<CUevent_st> events;
  unsigned streams_made = 0, events_made = 0;
};

Streams& all() {
  static Streams& state = *new Streams;
  return state;
}

CUstream_st& stream_of_this_thread() {
  CUstream_st*& stream = all().of_threads[this_thread()];
  if (stream == nullptr) stream = &make_stream(true);
  return *stream;
}

bool is_of_thread(const CUstream_st& stream) {
  return std::any_of(all().of_threads.begin(), all().of_threads.end(),
                     [&](const auto& entry) { return entry.second == &stream; });
}

// What a first use inside a capture is told by (control.h); 0: nothing that warms up.
std::uint64_t use_of(const Work& work) {
  if (const auto* kernel = std::get_if<KernelCall>(&work)) {
    return reinterpret_cast<std::uintptr_t>(kernel->function);
  }
  if (const auto* call = std::get_if<LibraryCall>(&work)) return call->problem;
  return 0;
}

Nanoseconds launch_cost(const Work& work) {
  const bool marks = std::holds_alternative<Nothing>(work) ||
                     std::holds_alternative<Allocate>(work) ||
                     std::holds_alternative<Release>(work);
  return marks ? 0 : costs().launch_kernel;
}

}  // namespace

CUstream_st& make_stream(bool blocking) {
  CUstream_st& stream = all().streams.make();
  stream.id = ++all().streams_made;
  stream.blocking = blocking;
  return stream;
}

cudaError_t destroy_stream(CUstream_st& stream) {
  if (stream.legacy || is_of_thread(stream)) return cudaErrorInvalidResourceHandle;
  if (stream.capture != nullptr) forget_stream(stream);
  if (stream.blocking && stream.last != nullptr) all().orphans.push_back(stream.last);
  std::erase(all().streams.live, &stream);
  stream.last = nullptr;
  return cudaSuccess;
}

CUevent_st& make_event(bool timing) {
  CUevent_st& event = all().events.make();
  event.id = ++all().events_made;
  event.timing = timing;
  return event;
}

void destroy_event(CUevent_st& event) {
  std::erase(all().events.live, &event);
  event.task = nullptr;
  event.captured = nullptr;
}

CUstream_st* stream_of(cudaStream_t handle) {
  if (handle == nullptr || handle == cudaStreamLegacy) return &all().legacy;
  if (handle == cudaStreamPerThread) return &stream_of_this_thread();
  return all().streams.find(handle);
}

CUevent_st* event_of(cudaEvent_t handle) { return all().events.find(handle); }

std::vector<CUstream_st*> live_streams() {
  std::vector<CUstream_st*> streams{&all().legacy};
  streams.insert(streams.end(), all().streams.live.begin(), all().streams.live.end());
  return streams;
}

std::vector<std::string> live_stream_objects() {
  std::vector<std::string> lines;
  for (const CUstream_st* stream : all().streams.live) {
    if (!is_of_thread(*stream)) lines.push_back(fmt::format("stream {}", stream->id));
  }
  for (const CUevent_st* event : all().events.live) {
    lines.push_back(fmt::format("event {}", event->id));
  }
  return lines;
}

cudaError_t submit(CUstream_st& stream, Work work, TaskRef* task) {
  if (task != nullptr) *task = nullptr;
  if (const cudaError_t refused = refuse_legacy(stream)) return refused;
  if (stream.capture != nullptr) return capture_work(stream, std::move(work));
  if (const std::uint64_t use = use_of(work)) note_use(use);
  move_host(launch_cost(work));
  TaskRef made = submit_task(std::make_shared<const Work>(std::move(work)), follows(stream), false);
  if (task != nullptr) *task = made;
  set_last(stream, std::move(made));
  return cudaSuccess;
}

void submit_unordered(CUstream_st& stream, std::vector<Work> works) {
  const std::vector<TaskRef> before = follows(stream);
  std::vector<TaskRef> tasks;
  for (Work& work : works) {
    move_host(launch_cost(work));
    tasks.push_back(submit_task(std::make_shared<const Work>(std::move(work)), before, false));
  }
  set_last(stream, submit_task(std::make_shared<const Work>(Nothing{}), std::move(tasks), false));
}

TaskRef mark_behind(const CUstream_st& stream) {
  return submit_task(std::make_shared<const Work>(Nothing{}), follows(stream), false);
}

std::vector<TaskRef> follows(const CUstream_st& stream) {
  std::vector<TaskRef> before{stream.last};
  if (stream.legacy) {
    for (const CUstream_st* other : all().streams.live) {
      if (other->blocking) before.push_back(other->last);
    }
    std::erase_if(all().orphans,
                  [](const TaskRef& task) { return task->done && task->end <= host_clock(); });
    before.insert(before.end(), all().orphans.begin(), all().orphans.end());
  } else if (stream.blocking) {
    before.push_back(all().legacy.last);
  }
  std::erase(before, nullptr);
  return before;
}

void set_last(CUstream_st& stream, TaskRef task) { stream.last = std::move(task); }

void reset_streams() { all() = {}; }

}  // namespace stepscope::cudasim
