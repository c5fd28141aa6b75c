// Which arms of a comparison stand against each other.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "bench/record/record.h"

namespace stepscope {

struct ArmPair {
  std::size_t base = 0, of = 0;  // places in the list of arms
  std::string kind;              // as PairRecord::kind
};

// Of one backend and batch: each arm with the base, graph with planned, fused with unfused of the
// same mode (with `ablate`: each with all passes of the same mode); arms of other roles with the
// base, which they repeat. The control comes first.
std::vector<ArmPair> pairs_of(const std::vector<const ArmRecord*>& arms, bool ablate);

// The base: the arm that the others are compared with, and that the control repeats. Unfused eager,
// with `ablate` all passes; where there is none, the first.
std::size_t base_of(const std::vector<const ArmRecord*>& arms, bool ablate);

// Graph arms of different backends at one batch and fusion: every backend with the first.
std::vector<PairRecord> pairs_between_backends(const std::vector<ArmRecord>& arms);

}  // namespace stepscope
