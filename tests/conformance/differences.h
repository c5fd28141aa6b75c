// Comparing outputs with an oracle, and saying which element differs by how much. Each function
// answers one line, or an empty text where all is as it should be.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

#include "tests/conformance/sites.h"

namespace stepscope::conformance {

// NaN equals NaN; zeros differ by their sign. Saved outputs are not looked at.
std::string different_bits(const OpSite& site, const std::vector<Bytes>& outputs,
                           const std::vector<Bytes>& expected);

// Each element within the bound of its op; whole numbers exactly. `worst` receives the largest
// share of a bound that was used.
std::string beyond_bound(const OpEntry& op, const OpSite& site, const Elements& inputs,
                         const Elements& outputs, const Elements& oracle, double* worst);

// Values written by hand: bits where the op promises them; else NaN and infinities by class and
// finite values to 2^-20, since their last digits are what the drawn cases check.
std::string unlike_written(Agreement agreement, const Elements& outputs, const Elements& written);

}  // namespace stepscope::conformance
