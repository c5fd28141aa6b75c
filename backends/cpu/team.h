// The OpenMP threads and stacks that Eigen's products need, proven before the first product: a team
// smaller than promised gives other bits, and a buffer larger than the stack ends the process.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

namespace stepscope::eigen {

// Opens a parallel region of `threads` threads and counts them, so that they exist from now on.
// Throws bad_input for a count below one; device, with both numbers, for fewer threads or smaller
// stacks than needed, for OMP_THREAD_LIMIT below the count, and within a parallel region.
// Turns off OpenMP's adjustment of team sizes for the calling thread.
void require_team(int threads);

// The OpenMP version and the file of its runtime: "201511, libgomp.so.1".
std::string openmp_runtime();

}  // namespace stepscope::eigen
