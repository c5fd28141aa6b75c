// The OpenMP threads and stacks that a backend's library needs, proven before its first call: a
// team smaller than promised gives other bits or wrong ones, and a buffer larger than the stack
// ends the process.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

namespace stepscope::cpu {

// Bytes of stack that products take; 0: not checked.
struct TeamNeeds {
  std::size_t caller_stack = 0;  // of the thread that launches
  std::size_t worker_stack = 0;  // of every other one
};

// Opens a parallel region of `threads` threads and counts them, so that they exist from now on.
// Throws bad_input for a count below one; device, with both numbers, for fewer threads or smaller
// stacks than needed, for OMP_THREAD_LIMIT below the count, and within a parallel region. Messages
// begin with the name of the backend.
// Turns off OpenMP's adjustment of team sizes for the calling thread.
void require_team(std::string_view backend, int threads, TeamNeeds needs = {});

// An empty parallel region of `threads` threads.
void open_team(int threads);

// The OpenMP version and the file of its runtime: "201511, libgomp.so.1".
std::string openmp_runtime();

}  // namespace stepscope::cpu
