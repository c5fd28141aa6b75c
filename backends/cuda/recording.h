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
#include "backends/cuda/handles.h"

namespace stepscope::cuda {

// One call that a launch made, as a recording keeps it: replays count and log it.
struct RecordedCall {
  Launch launch;
  std::uint32_t op;
  CallBy by;
  std::uint32_t nodes;  // kernel nodes it became
};

class CudaRecording final : public Recording {
 public:
  struct Facts {
    std::size_t launches = 0;
    std::size_t nodes = 0;  // all of them kernels, one behind the other
    Times times;
    std::optional<std::size_t> bytes;  // of the device, that the executable took
  };
  CudaRecording(ExecHandle exec, std::vector<RecordedCall> calls, Facts facts);
  ~CudaRecording() override;

  void replay(Stream& stream) override;
  std::size_t launches() const override { return facts_.launches; }
  std::optional<std::size_t> bytes() const override { return facts_.bytes; }
  Times times() const override { return facts_.times; }

  const std::vector<RecordedCall>& calls() const { return calls_; }
  std::size_t nodes() const { return facts_.nodes; }

 private:
  ExecHandle exec_;
  std::vector<RecordedCall> calls_;
  Facts facts_;
  std::shared_ptr<StreamHandle> replayed_in_;  // the last stream; null: never replayed
};

}  // namespace stepscope::cuda
