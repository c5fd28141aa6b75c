// The equal-work gate: two arms get a ratio only when they did the same work.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "backends/execution/session.h"
#include "bench/data/input_ring.h"
#include "bench/record/record.h"

namespace stepscope {

inline constexpr std::int64_t kGateSteps = 20;

// What an arm computed: the loss (or kept `out`, or nothing) of each step, and all parameters and
// states after step 1 (a wrong order of updates does not show in the first loss) and after the
// last.
struct GateTrace {
  std::vector<std::vector<double>> results;  // per step
  std::map<std::string, std::vector<std::byte>> after_first, after_last;
};

// Resets the session, runs the steps over the ring from its batch `first` on, and resets it again.
GateTrace gate_trace(Session& session, const InputRing& ring, std::int64_t batch,
                     std::int64_t steps = kGateSteps, std::int64_t first = 0);

// The same with every non-zero element of every parameter moved to the next number at the start:
// what comes of one rounding. The control of compare_rounding.
GateTrace control_trace(Session& session, const InputRing& ring, std::int64_t batch,
                        std::int64_t steps = kGateSteps, std::int64_t first = 0);

// Equal bits: for arms of one backend without fusion, which run the same kernels in the same order.
GateRecord compare_bits(const GateTrace& baseline, const GateTrace& arm);

// For fused against unfused, which round in other places. After step 1 every parameter and state
// lies within `tolerance`, norm of the difference over the norm. Results of later steps and
// parameters after the last may lie apart by as much more as the control's have grown, and 16 times
// that: no constant holds for a step that amplifies, and the control is one draw of it.
GateRecord compare_rounding(const GateTrace& baseline, const GateTrace& arm,
                            const GateTrace& control, double tolerance);

// For arms of different backends, which add in different orders. Both in f32. Results of each step
// within `tolerance`, relative; each parameter tensor after step 1 within it, norm of the
// difference over the norm. Parameters after more steps carry amplified rounding and are not
// compared. Compares as many steps as the shorter trace has.
GateRecord compare_within(const GateTrace& baseline, const GateTrace& arm, double tolerance);

}  // namespace stepscope
