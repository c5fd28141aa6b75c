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
#include "bench/measure/timer.h"
#include "bench/record/record.h"
#include "graph/passes/fusion.h"

namespace stepscope {

struct ArmChoice {
  Mode mode = Mode::eager;
  FusionChoice fusion;
};

struct ArmOptions {
  std::int64_t offset = 0;  // of all its memory: a multiple of the backend's alignment
  EagerCache eager_cache = EagerCache::on;
};

struct Arm {
  ArmChoice choice;
  std::vector<Pass> passes;
  std::unique_ptr<Session> session;
  ArmRecord record;  // with the one-off costs of this process
  std::uint64_t lowerings_before_steady = 0;
};

// Compiles it and fills in what is known before a step runs: `one_off` up to the recording.
Arm make_arm(const CompareSpec& spec, Backend& backend, const ArmChoice& choice, std::int64_t batch,
             const InputRing& ring, const ArmOptions& options = {});

// Where the memory of a process's arms begins, in bytes beyond where it would: different from
// process to process, since where data lie decides times.
std::int64_t address_offset(std::int64_t process, std::size_t alignment);

// The first step of all, on the first batch of the ring: its time, and memory from the making of
// the arm to the end of it. Parameters and states are restored: it does not train.
// Requires: the session ran no step before.
void first_step(Arm& arm, std::int64_t batch, const InputRing& ring, Timer& timer);

// Behind the warm-up: peaks of memory begin anew, compilations are counted from here.
void begin_steady(Arm& arm);
// Behind the last steady step: the window's memory, who holds it, and the compilations since
// begin_steady(). May be called again behind further steps.
void end_steady(Arm& arm);

// Exact counts of a few steady steps; what was executed, and by whom, is derived from them.
// Throws device, with the counts, when two of these steps differ.
void count_step(Arm& arm, std::int64_t batch, const InputRing& ring);

// The arms of a spec at one batch size. With `ablate`: all passes, all but one for each that
// changes the graph, none. Otherwise every fusion in every mode.
std::vector<ArmChoice> arms_of(const CompareSpec& spec, Backend& backend, std::int64_t batch);

// What each pass of a choice did to a step. Chosen passes that the backend does not run say so.
std::vector<PassRecord> pass_records(const FusionChoice& choice,
                                     const std::vector<PassReport>& reports);

}  // namespace stepscope
