// Arm: one mode and one choice of passes at one batch size, ready to be gated and timed.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "backends/execution/session.h"
#include "bench/compare/compare.h"
#include "bench/data/input_ring.h"
#include "bench/record/record.h"
#include "graph/passes/fusion.h"

namespace stepscope {

struct ArmChoice {
  Mode mode = Mode::eager;
  FusionChoice fusion;
};

struct Arm {
  ArmChoice choice;
  std::vector<Pass> passes;
  std::unique_ptr<Session> session;
  ArmRecord record;
  std::int64_t steps_per_slot = 0;
};

// Compiles it and fills in what is known before a step runs.
Arm make_arm(const CompareSpec& spec, Backend& backend, const ArmChoice& choice, std::int64_t batch,
             const InputRing& ring);

// Exact counts of a few steady steps; what was executed, and by whom, is derived from them.
void count_step(Arm& arm, std::int64_t batch, const InputRing& ring);

// The arms of a spec at one batch size. With `ablate`: all passes, all but one for each that
// changes the graph, none. Otherwise every fusion in every mode.
std::vector<ArmChoice> arms_of(const CompareSpec& spec, Backend& backend, std::int64_t batch);

// What each pass of a choice did to a step. Chosen passes that the backend does not run say so.
std::vector<PassRecord> pass_records(const FusionChoice& choice,
                                     const std::vector<PassReport>& reports);

}  // namespace stepscope
