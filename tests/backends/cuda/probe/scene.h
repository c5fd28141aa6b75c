// What rules play with: streams, events, device memory, graphs. Each gives back what it holds, also
// in the midst of a capture. Making one throws SetUpFailed where it fails.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cuda_runtime_api.h>

#include <string>
#include <vector>

namespace stepscope::probe {

enum class StreamKind : std::uint8_t { blocking, non_blocking };

class Stream {
 public:
  explicit Stream(StreamKind kind = StreamKind::non_blocking);
  ~Stream();  // ends a capture that began here
  Stream(const Stream&) = delete;
  Stream& operator=(const Stream&) = delete;
  operator cudaStream_t() const { return handle_; }

  void begin(cudaStreamCaptureMode mode = cudaStreamCaptureModeGlobal);
  cudaError_t end();  // of a capture; its graph is dropped

 private:
  cudaStream_t handle_ = nullptr;
};

enum class Timing : std::uint8_t { on, off };

class Event {
 public:
  explicit Event(Timing timing = Timing::on);
  ~Event();
  Event(const Event&) = delete;
  Event& operator=(const Event&) = delete;
  operator cudaEvent_t() const { return handle_; }

 private:
  cudaEvent_t handle_ = nullptr;
};

// Integers in device memory, all equal at the start.
class DeviceInts {
 public:
  explicit DeviceInts(int value = 0, std::size_t count = 1);
  ~DeviceInts();
  DeviceInts(const DeviceInts&) = delete;
  DeviceInts& operator=(const DeviceInts&) = delete;
  int* data() const { return data_; }
  std::size_t bytes() const { return count_ * sizeof(int); }
  int first() const;  // waits for what was submitted: throws where that failed

 private:
  int* data_ = nullptr;
  std::size_t count_;
};

class Graph {
 public:
  Graph();  // empty
  // What was captured since begin; throws where the capture failed.
  explicit Graph(Stream& captured);
  ~Graph();
  Graph(const Graph&) = delete;
  Graph& operator=(const Graph&) = delete;
  operator cudaGraph_t() const { return handle_; }
  void drop();

  std::vector<cudaGraphNode_t> nodes() const;
  std::size_t edges() const;
  std::string types() const;  // "kernel memcpy", in the order of nodes()

 private:
  cudaGraph_t handle_ = nullptr;
};

class Executable {
 public:
  explicit Executable(cudaGraph_t graph, unsigned long long flags = 0);
  ~Executable();
  Executable(const Executable&) = delete;
  Executable& operator=(const Executable&) = delete;
  operator cudaGraphExec_t() const { return handle_; }

 private:
  cudaGraphExec_t handle_ = nullptr;
};

// "none", "active", "invalidated", or the name of the error.
std::string status_of_capture(cudaStream_t stream);

// Loads every kernel and makes the context, so that no first use falls into a capture.
void warm_up();

}  // namespace stepscope::probe
