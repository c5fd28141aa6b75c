// Adding up submissions, and the middle of them.
// SPDX-License-Identifier: Apache-2.0
#include "bench/train/submissions.h"

namespace stepscope {

void SubmissionCount::add(const Counters& step) {
  total_.steps += step.steps;
  total_.lookups += step.lookups;
  total_.submitted += step.submitted;
  total_.replays += step.replays;
  ++steps_with_[static_cast<std::int64_t>(step.submitted + step.replays)];
}

std::int64_t SubmissionCount::nth(std::int64_t step) const {
  for (const auto& [submissions, steps] : steps_with_) {
    if (step < steps) return submissions;
    step -= steps;
  }
  return 0;
}

SubmissionRecord SubmissionCount::record() const {
  std::int64_t count = 0;
  for (const auto& [submissions, steps] : steps_with_) count += steps;
  SubmissionRecord record{.activity = activity_, .steps = count};
  record.submissions = static_cast<std::int64_t>(total_.submitted + total_.replays);
  record.graph_launches = static_cast<std::int64_t>(total_.replays);
  if (count == 0) return record;
  record.least = steps_with_.begin()->first;
  record.most = steps_with_.rbegin()->first;
  record.median = static_cast<double>(nth((count - 1) / 2) + nth(count / 2)) / 2.0;
  return record;
}

}  // namespace stepscope
