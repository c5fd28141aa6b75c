// Sampler: times steps of a session, one by one.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <span>

#include "backends/execution/session.h"
#include "bench/data/input_ring.h"
#include "bench/record/record.h"

namespace stepscope {

// Latency mode: each step is waited for before the next begins. The slot starts from `start`, a
// snapshot of the model segment that is restored outside the timed intervals, and reads the ring
// from its beginning, so that every slot of every arm does the same work. No allocation while
// timing.
SlotSamples sample_slot(Session& session, const InputRing& ring, std::int64_t batch,
                        std::span<const std::byte> start, std::int64_t steps);

// How many steps fill `slot` at least: from a few untimed rounds of doubling. Trains; the caller
// restores.
std::int64_t steps_for(Session& session, const InputRing& ring, std::int64_t batch,
                       std::chrono::nanoseconds slot);

// All slots' values of one kind as one summary.
TimeSummary summarize(std::span<const SlotSamples> slots,
                      std::vector<std::int64_t> SlotSamples::*values);

// Time of one step of `batch` rows when every kernel body is empty: these passes, the same plan,
// mode and binds, on the null backend. One sample per block of steps, as steps are too short to
// time alone.
TimeSummary time_dispatch(const Model& model, Mode mode, std::int64_t batch,
                          const std::vector<Pass>& passes);

}  // namespace stepscope
