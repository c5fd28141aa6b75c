// reconcile: whether what a stream counted and logged is the program, in the mode that was asked
// for. A mismatch means that a measured number belongs to something else than its label says.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <span>

#include "backends/execution/executor.h"

namespace stepscope {

// What was asked for.
struct Requested {
  Mode mode = Mode::eager;
  std::uint64_t steps = 0;
  // off: each step makes kernels of its own, so they are not compared with those of the program.
  EagerCache eager_cache = EagerCache::on;
  // inside: each replay must have copied each input once; else no replay may have copied anything.
  InputCopy input_copy = InputCopy::outside;
  // The model segment the program is bound to: addresses are checked as well. The log must hold
  // copies of operands (LogOperands::copied).
  const ModelMemory* memory = nullptr;
};

// `counted` is the difference of two snapshots around the steps, all of this program; `log` the log
// of the stream behind them. It may be longer, its newest entries count, or shorter, when the ring
// was too small for all steps; it must hold one step.
//
// Throws device, with the numbers and the op, when
//   - the steps, the executed mode, or the launches are not those that were asked for;
//   - replays did not copy the inputs, or did where they should not;
//   - an op was not called as often as its kernel says, once a step;
//   - calls came in another order than the program's, or from another kernel: other types or
//     attributes.
// With `memory` also when an op read a value elsewhere than it was written (or than the model
// segment has it), wrote over a value that somebody still reads, or was given a misaligned address.
void reconcile(const Program& program, const Counters& counted, std::span<const LogEntry> log,
               const Requested& requested);

}  // namespace stepscope
