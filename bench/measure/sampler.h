// Sampler: takes the lists of a record from a subject. Every interval is sync, stamp, work, sync,
// stamp: the closing sync and the cost of launching lie inside, and nothing is subtracted.
//
// Each function restarts the subject outside the intervals, and allocates nothing within them.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <initializer_list>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "backends/execution/session.h"
#include "bench/measure/subject.h"
#include "bench/measure/timer.h"
#include "bench/record/samples.h"

namespace stepscope {

struct LatencyLists {
  Samples step;               // submit and wait
  Samples input_copy;         // copy in and wait, before each of these steps
  std::int64_t total_ns = 0;  // from the first stamp to the last
};
// Steps waited for one by one.
LatencyLists sample_latency(Subject& subject, Timer& timer, std::int64_t samples);

// Blocks of steps, each copied in and submitted without a wait between them; every block begins at
// the restart.
Samples sample_throughput(Subject& subject, Timer& timer, std::int64_t steps_per_block,
                          std::int64_t blocks);

// As sample_throughput, but the closing stamp is taken before the wait: what the host did. Nothing
// for a synchronous subject, where it is the wall time under another name.
std::optional<Samples> sample_submission(Subject& subject, Timer& timer,
                                         std::int64_t steps_per_block, std::int64_t blocks);

// As sample_throughput, by the device's own clock: from the start of the first work of a block to
// the end of its last. Nothing for a subject without such a clock. In blocks of their own, since
// the stamps of a device take time of the host.
std::optional<Samples> sample_device(Subject& subject, Timer& timer, std::int64_t steps_per_block,
                                     std::int64_t blocks);

// One throughput block, with what the system did to the process meanwhile: CPU time of the calling
// thread and of the process, switches and page faults of the process. They are read outside the
// stamps.
TimedSlot time_slot(Subject& subject, Timer& timer, std::int64_t steps);

// How many steps fill `least_ns`, with a quarter to spare; more, so that two stamps and an empty
// sync are at most 0.1 % of the block. Restarts before each try.
std::int64_t steps_for(Subject& subject, Timer& timer, std::int64_t least_ns);

// At least `least` steps, then until two neighbouring blocks of ten differ by less than `tolerance`
// in their medians, but no more than `most` steps.
struct WarmUpRule {
  std::int64_t least = 10;
  double tolerance = 0.02;
  std::int64_t most = 200;
};
struct WarmUp {
  Samples samples;   // as of latency; for a list of its own
  std::string rule;  // what ended it, in words
};
// Ends with a restart: warming up does not train.
WarmUp warm_up(Subject& subject, Timer& timer, const WarmUpRule& rule = {});

// Of all lists, per step: each sample is divided by the steps it holds. Count 0 without a sample.
TimeSummary summarize(std::span<const Samples> lists);

// What a total holds beside its stages: the time that no stage accounts for.
std::int64_t residual_ns(std::int64_t total_ns,
                         std::initializer_list<std::span<const std::int64_t>> stages);

// A list may say `complete` only if the work of each sample had ended at its closing stamp.
// `ends_ns`: when the last work of each sample ended. Throws bad_input, naming the first sample
// that misses work, and by how much.
void check_covers(const Samples& samples, std::span<const std::int64_t> ends_ns);

// Time of one step of `batch` rows when every kernel body is empty: these passes, the same plan,
// mode and binds, on the null backend. One sample per block of steps, as steps are too short to
// time alone.
TimeSummary time_dispatch(const Model& model, Mode mode, std::int64_t batch,
                          const std::vector<Pass>& passes);

}  // namespace stepscope
