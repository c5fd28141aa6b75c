// From raw slots to verdicts: a pure function on a record. docs/measuring.md says each rule.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

#include "bench/record/record.h"

namespace stepscope {

struct AnalysisOptions {
  std::int64_t draws = 10'000;    // of the bootstrap
  std::uint64_t seed = 20261020;  // of the bootstrap
  std::int64_t reruns = 0;        // made before because a run was void
};

inline constexpr std::int64_t kMostReruns = 2;      // then: inconclusive-environment
inline constexpr double kConfidence = 0.95;         // of every interval
inline constexpr double kLeastDelta = 0.01;         // of the band of SAME
inline constexpr double kMostFloor = 0.05;          // of an A/A control, else its pairs are void
inline constexpr double kSentinelTolerance = 0.05;  // between the two beside a block
inline constexpr std::int64_t kTrustedBlocks = 4;   // in each of kWorkingProcesses, for a verdict
inline constexpr double kMostVoided = 0.50;         // share of blocks, else the run is void

// Fills in what follows from what was measured: voids of blocks, ratios with intervals, A/A floor,
// verdicts, break-even, flags, status. Takes arms, pairs with their blocks, lists, one-off costs,
// processes and gates as they are; drops nothing. Run twice, it gives the same.
// Pairs whose `processes` are empty are read from their arms' throughput lists: process number k
// of one against number k of the other.
// Throws bad_input for a pair that names no arm, a time that is not above 0, a block that is
// neither ABBA nor BAAB.
void analyze(Record& record, const AnalysisOptions& options = {});

}  // namespace stepscope
