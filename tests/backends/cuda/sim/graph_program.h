// Random programs over several streams, for one question: does each way to run them give what
// running them one op after the other gives?
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cuda_runtime_api.h>

#include <array>
#include <cstdint>
#include <vector>

namespace stepscope::cudasim {

inline constexpr int kCells = 8;  // of each buffer; one block
using Cells = std::array<std::uint32_t, kCells>;

enum class Step : std::uint8_t { mix, fill, copy, copy_in, copy_out, host_mix };

// Buffers are numbered: the device's first, the pinned ones behind them.
struct Op {
  Step step = Step::mix;
  int stream = 0;
  int to = 0, from = 0;
  std::uint32_t key = 0;
  std::vector<int> waits;  // for earlier ops of other streams
};

struct Program {
  int streams = 1, device = 1, pinned = 1;  // how many
  std::vector<Op> ops;
};

// With all the waits it needs, and now and then one that it does not.
Program make_program(std::uint64_t seed);
// What holds without the wait: whether op `of` still follows its wait `index` by other ways.
bool is_needed(const Program& program, std::size_t of, std::size_t index);

using State = std::vector<Cells>;  // by buffer
State first_state(const Program& program);
// One op after the other, on the host; the first `count` of them.
void run_reference(const Program& program, State& state, std::size_t count);

// The program's buffers, streams and events on the device.
class Machine {
 public:
  explicit Machine(const Program& program);
  ~Machine();
  Machine(const Machine&) = delete;
  Machine& operator=(const Machine&) = delete;

  // Into the streams, all of them forked from the first and joined to it; so that it may be
  // captured in it as well.
  void submit();
  // The same as explicit nodes.
  void add_to(cudaGraph_t graph);
  cudaStream_t origin() const { return streams_.front(); }
  void wait_for(std::size_t op);
  // Waits for the streams, the last first; then tells what is there.
  State state();

  // What an op's host function is given.
  struct HostMix {
    std::uint32_t* to;
    const std::uint32_t* from;
    std::uint32_t key;
  };

 private:
  void submit(const Op& op, std::size_t index);
  cudaGraphNode_t add_node(cudaGraph_t graph, const Op& op, std::size_t index,
                           const std::vector<cudaGraphNode_t>& after);

  const Program program_;
  std::vector<std::uint32_t*> buffers_;
  std::vector<cudaStream_t> streams_;
  std::vector<cudaEvent_t> done_;    // of each op
  std::vector<cudaEvent_t> joined_;  // of each stream
  cudaEvent_t forked_ = nullptr;
  std::vector<HostMix> host_mixes_;  // by op
};

}  // namespace stepscope::cudasim
