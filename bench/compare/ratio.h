// RatioRecord from the evidence of one pair in one stratum: estimates and intervals, no verdict.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <vector>

#include "bench/compare/analysis.h"
#include "bench/compare/blocks.h"
#include "bench/record/record.h"

namespace stepscope {

// The interval that a control is judged by, beside the one that is printed.
struct RatioEstimate {
  RatioRecord record;
  std::optional<Interval> judged;  // at the confidence asked for
};

// Processes are the unit: geometric mean of their ratios. The interval is the wider, in logarithms,
// of the hierarchical bootstrap's percentiles and Student's on the logarithms. Fewer processes than
// kWorkingProcesses give an estimate and a spread alone.
RatioEstimate estimate_ratio(const Evidence& evidence, const AnalysisOptions& options,
                             double judged_confidence = kConfidence);

}  // namespace stepscope
