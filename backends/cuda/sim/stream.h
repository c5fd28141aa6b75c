// stream: tasks, the streams that order them, events that mark them, and when they run.
//
// A task is submitted with its virtual times settled: begin = max(ends of what it follows, host's
// clock at the call), end = begin + cost. It runs for real when the schedule says so, never before
// what it follows. Queries answer by the virtual clock, and run what they say has finished.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cuda_runtime_api.h>

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "backends/cuda/sim/work.h"

namespace stepscope::cudasim {

struct Capture;  // capture.h

struct Task {
  WorkRef work;
  std::vector<std::shared_ptr<Task>> after;  // emptied when it has run
  bool done = false;
  bool node = false;  // of a graph's launch: its cost has the node's share
  Nanoseconds begin = 0, end = 0;
  std::uint64_t id = 0;  // in order of submission, from 1
};
using TaskRef = std::shared_ptr<Task>;

}  // namespace stepscope::cudasim

// What the opaque handles of the runtime point to. Handles are checked against the live ones at
// each call: a destroyed or foreign one is cudaErrorInvalidResourceHandle (400).
struct CUstream_st {
  unsigned id = 0;       // in order of creation; 0: the legacy stream
  bool blocking = true;  // obeys the legacy stream's rules
  bool legacy = false;
  stepscope::cudasim::TaskRef last;                // null: nothing submitted yet
  stepscope::cudasim::Capture* capture = nullptr;  // not owned
};

struct CUevent_st {
  unsigned id = 0;
  bool timing = true;
  bool recorded = false;
  stepscope::cudasim::TaskRef task;      // of the last record in a stream
  std::shared_ptr<const void> captured;  // of the last record in a capture (capture.cpp)
};

namespace stepscope::cudasim {

// Null for a handle that is not live. 0 and cudaStreamLegacy are the legacy stream,
// cudaStreamPerThread is the calling thread's own.
CUstream_st* stream_of(cudaStream_t handle);
CUevent_st* event_of(cudaEvent_t handle);
std::vector<CUstream_st*> live_streams();        // the legacy one first
std::vector<std::string> live_stream_objects();  // leaks, one line each: streams and events

// Hands work to a stream: a node while it captures (capture.h), else a task with the implicit
// dependencies of the legacy rules. Moves the host's clock by the cost of the launch. `task`
// receives it, or null when captured.
cudaError_t submit(CUstream_st& stream, Work work, TaskRef* task = nullptr);
// Each behind what the stream follows, in no order among themselves; the stream goes on behind all
// of them. Requires: it does not capture.
void submit_unordered(CUstream_st& stream, std::vector<Work> works);
// A task behind `after` alone, outside any stream; for the nodes of a graph's launch.
TaskRef submit_task(WorkRef work, std::vector<TaskRef> after, bool node);
// What a task submitted to the stream now would follow: its last, and those of the legacy rules.
std::vector<TaskRef> follows(const CUstream_st& stream);
// A mark behind all of that, outside any stream: what a wait for the stream waits for.
TaskRef mark_behind(const CUstream_st& stream);
void set_last(CUstream_st& stream, TaskRef task);

// Runs a task and all that it follows, then sets the host's clock to its end. The device's sticky
// fault, if there is one now, is returned.
cudaError_t wait_for(const TaskRef& task);
cudaError_t wait_for_all();
// 0: finished by the virtual clock, and run for real; cudaErrorNotReady (600): not yet.
cudaError_t query(const TaskRef& task);
// From cudaGraphLaunch, for totals().
void count_graph_launch();
// The seeded schedule's turn; nothing for the others.
void give_turn();

// The device's sticky fault: cudaSuccess while there is none (rule 34).
cudaError_t sticky();

}  // namespace stepscope::cudasim
