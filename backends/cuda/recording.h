// CudaRecording: an executable CUDA Graph, and the calls that each replay of it makes.
//
// Its destructor waits for the replays: what they use may be freed behind it.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <vector>

#include "backends/api/stream.h"
#include "backends/cuda/copy_source.h"
#include "backends/cuda/handles.h"

namespace stepscope::cuda {

// One call that a launch made, as a recording keeps it: replays count and log it.
struct RecordedCall {
  Launch launch;
  std::uint32_t op;
  CallBy by;
  std::uint32_t nodes;  // it became: kernels, and fills of a library
};

// A copy of inputs that each replay makes, in front of its calls.
struct RecordedCopy {
  CudaCopySource* from;
  std::byte* to;
  std::size_t bytes;
};

class CudaRecording final : public Recording {
 public:
  struct Facts {
    std::size_t launches = 0;
    std::size_t nodes = 0;  // one behind the other: the copies, then those of the calls
    Times times;
    std::optional<std::size_t> bytes;  // of the device, that the executable took
  };
  // Throws device. Requires: the sources of the copies outlive it.
  CudaRecording(ExecHandle exec, std::vector<RecordedCopy> copies, std::vector<RecordedCall> calls,
                Facts facts, std::vector<RecordedNode> nodes);
  ~CudaRecording() override;

  void replay(Stream& stream) override;
  std::size_t launches() const override { return facts_.launches; }
  std::size_t copies() const override { return copies_.size(); }
  std::vector<RecordedNode> nodes() const override { return nodes_; }
  std::optional<std::size_t> bytes() const override { return facts_.bytes; }
  Times times() const override { return facts_.times; }

  const std::vector<RecordedCall>& calls() const { return calls_; }
  std::size_t node_count() const { return facts_.nodes; }

 private:
  void mark_read(cudaStream_t stream);

  ExecHandle exec_;
  std::vector<RecordedCopy> copies_;
  std::vector<RecordedCall> calls_;
  Facts facts_;
  std::vector<RecordedNode> nodes_;
  std::shared_ptr<EventHandle> over_;          // recorded behind each replay that copies; else null
  std::shared_ptr<StreamHandle> replayed_in_;  // the last stream; null: never replayed
};

}  // namespace stepscope::cuda
