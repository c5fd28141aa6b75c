// Small records of comparisons, as an analysis would leave them, for tests of what is said of them.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>

#include "bench/record/record.h"

namespace stepscope::test {

// With one blank where there are several: what a table says, whatever its widths.
std::string squeezed(const std::string& text);

// Wrapped prose as single lines: a line that begins with blanks belongs to the one before.
std::string unwrapped(const std::string& text);

// eager, graph, fusion off and on, on a backend at batch 1 and 32, with every pair decided:
// graph is FASTER at batch 1 and SAME at 32; fusion makes it FASTER at both.
Record decided(const std::string& backend = "eigen");
// The arms and pairs of another record behind those of the first, and graph arms between them.
void add_backend(Record& record, const Record& other);

ArmRecord make_arm(const std::string& backend, const std::string& mode, const std::string& fusion,
                   std::int64_t batch, double median_ns);
// One stratum; the interval is that much to both sides of the ratio.
PairRecord make_pair_record(const ArmRecord& base, const ArmRecord& of, const std::string& verdict,
                            double half_width = 0.01);

ArmRecord& arm_of(Record& record, const std::string& name);
// The first ratio of the pair; both by the names of arms.
RatioRecord& ratio_of(Record& record, const std::string& of, const std::string& base);

}  // namespace stepscope::test
