// Mutant: an executor that does almost what its mode says. reconcile() must tell.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <vector>

#include "backends/execution/executor.h"
#include "tests/backends/execution/rig.h"

namespace stepscope::test {

enum class Flaw {
  none,            // the control: must pass
  skips,           // leaves out one op
  repeats,         // makes one call twice
  swaps_order,     // runs two neighbours the other way round
  swaps_operands,  // gives two ops of one kernel each other's operands
  other_kernel,    // runs an op with the kernel of another
};

// Works on ops `at` and `at + 1`. Looks like `mode` to the counters: eager counts look-ups, graph
// records and replays.
class Mutant final : public Executor {
 public:
  Mutant(Rig& rig, Mode mode, Flaw flaw, std::size_t at);

  void enqueue(Stream& stream) override;
  std::byte* address(ValueId id) const override { return memory_->address(id); }
  MemoryUse memory_use() const override { return memory_->memory_use(); }
  std::vector<MemoryPart> memory_parts() const override { return memory_->memory_parts(); }

  // Moves operand `k` of op `op` by `bytes`.
  void move_operand(std::size_t op, std::size_t k, std::ptrdiff_t bytes);
  // Lets operand `k` of op `op` lie where `value` lies.
  void place_operand(std::size_t op, std::size_t k, ValueId value);

 private:
  struct Call {
    std::uint32_t op;
    Launch launch;
  };

  void submit(Stream& stream) const;

  Mode mode_;
  std::unique_ptr<Executor> memory_;               // its addresses are ours
  std::vector<std::vector<std::byte*>> operands_;  // per op
  std::vector<Call> calls_;
  std::unique_ptr<Recording> recording_;
};

}  // namespace stepscope::test
