// A document of every kind of part that a report can have, made by hand: full, and hostile.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include "bench/report/document.h"

namespace stepscope::test {

// Two records, figures of all kinds, tables that are long, wide and both, sections without data.
Document sample_document();

// Markup and quotes in each text that a record can bring.
Document hostile_document();
inline constexpr const char* kHostile = "</style><script>alert('1 & \"2\"')</script>`id`%s\\";

// A figure on logarithmic axes with bands: a line for each mode, with and without fusion.
Figure time_figure(const std::string& backend);
// Ratios with intervals, the band of SAME and two crossover batches.
Figure ratio_figure(const std::string& backend);
Figure bars_figure();

}  // namespace stepscope::test
