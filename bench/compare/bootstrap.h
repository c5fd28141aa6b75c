// Hierarchical bootstrap: processes are drawn again, then blocks inside each, within their order.
// Blocks of one process are not independent of each other, which is why drawing them alone claims
// too much.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <vector>

#include "bench/compare/blocks.h"

namespace stepscope {

// Logarithms of the geometric mean of the processes' ratios, one of each draw, in ascending order.
// Equal seeds give equal draws. Requires a process, each with a block.
std::vector<double> bootstrap_logs(const Evidence& evidence, std::int64_t draws,
                                   std::uint64_t seed);

}  // namespace stepscope
