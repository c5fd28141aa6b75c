// What the steps of one activity hand over, step by step: a total alone would fit several stories.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <map>
#include <string>

#include "backends/api/stream.h"
#include "bench/record/record.h"

namespace stepscope {

class SubmissionCount {
 public:
  explicit SubmissionCount(std::string activity) : activity_(std::move(activity)) {}

  // One step, or evaluation, by what its stream counted meanwhile.
  void add(const Counters& step);

  const std::string& activity() const { return activity_; }
  const Counters& total() const { return total_; }
  SubmissionRecord record() const;

 private:
  std::int64_t nth(std::int64_t step) const;  // submissions of the steps in rising order

  std::string activity_;
  Counters total_;
  std::map<std::int64_t, std::int64_t> steps_with_;  // submissions of a step -> how many steps
};

}  // namespace stepscope
