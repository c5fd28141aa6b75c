// GraphMaker: turns noted launches into a graph, once, and takes its inventory call by call.
//
// Refuses what a step's graph must not hold: a call that adds no node, a node that is no kernel (a
// library may fill memory beside its kernels), a node beside the chain, one that may start before
// the one ahead of it ends, and whatever makes a capture invalid. Copies of inputs stand in front
// of the calls, one node each. Leaves the stream as it was on every path: no capture is open and no
// graph left when it threw.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "backends/cuda/handles.h"
#include "backends/cuda/recording.h"
#include "backends/cuda/stream.h"

namespace stepscope::cuda {

// What of a node of a call is told.
struct CallNode {
  bool is_fill = false;   // of memory, not a kernel: a library's only
  bool is_early = false;  // may start before the one ahead of it ends: a library's only
  dim3 grid, block;       // of own kernels
  unsigned dynamic_shared = 0;
};

struct CallNodes {
  RecordedCall call;
  std::vector<CallNode> nodes;
  std::uint64_t addresses = 0;  // digest of what own kernels are given (submission.h)
};

struct MadeGraph {
  GraphHandle graph;
  std::vector<CallNodes> calls;
  std::size_t nodes = 0;  // of copies and calls
};

// For people, in the order of replay.
std::vector<RecordedNode> nodes_of(std::span<const RecordedCopy> copies, const MadeGraph& made);

// Throws RecordingError: "cuda: recording op 5 MatMul: REASON".
[[noreturn]] void fail_at_op(const NotedLaunch& launch, Fault fault, std::string_view reason);

class GraphMaker {
 public:
  // `captures`: the stream that captures; for explicit nodes, the one that library calls are
  // captured through. Requires: capture_lock() is held, and `stream` has no other maker.
  GraphMaker(CudaStream& stream, cudaStream_t captures, RecordAs as);
  ~GraphMaker();
  GraphMaker(const GraphMaker&) = delete;
  GraphMaker& operator=(const GraphMaker&) = delete;

  // Once. Throws RecordingError where an op is concerned.
  MadeGraph make(std::span<const RecordedCopy> copies, std::span<const NotedLaunch> launches);

  // For CudaStream.
  void keep(const Launch& launch, CallBy by);
  cudaStream_t begin_library_capture();
  void end_library_capture();

 private:
  struct Place {
    cudaGraph_t graph;
    cudaGraphNode_t last;  // null: nothing yet
  };

  void begin();
  void record(const RecordedCopy& copy);
  void record(const NotedLaunch& noted);
  void end();
  Place place() const;
  bool is_of_library() const;
  void close_call();
  struct NewNode {
    cudaGraphNode_t node;
    cudaGraphNodeType type;
    bool is_early;
  };
  std::vector<NewNode> new_nodes(cudaGraphNodeType type);

  CudaStream& stream_;
  cudaStream_t captures_;
  RecordAs as_;
  bool capturing_ = false;
  bool call_is_open_ = false;  // a call was reported, and its nodes not counted yet
  cudaGraphNode_t counted_to_ = nullptr;
  std::uint64_t addresses_ = 0;  // of the open call
  std::uint32_t op_ = 0;
  MadeGraph made_;
};

// Throws RecordingError at the first call in which the two differ.
void check_same_calls(std::span<const NotedLaunch> launches, const MadeGraph& rehearsed,
                      const MadeGraph& made);

}  // namespace stepscope::cuda
