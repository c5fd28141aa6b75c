// What `stepscope lab` shows without measuring: one stream with launches and durations that are
// given, and the faulty beside the correct way to time it.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <string>
#include <vector>

namespace stepscope::cli {

// In any one unit, printed as milliseconds.
struct FifoSpec {
  std::vector<double> launch;  // when each kernel is launched
  std::vector<double> device;  // how long each runs
  std::optional<double> stop;  // second stamp of a reading that waits for nobody; the last launch
};

// Launches, starts, completions, queue delays; busy, idle, span; the reading and what it misses.
// Throws bad_input for empty lists, lists of different lengths, numbers that are not finite or
// negative, launches that go back in time, a stop before the first launch.
std::string fifo_text(const FifoSpec& spec);

// A launch of 0.3 ms and a kernel of 2.1 ms on the fake stream, timed both ways, for both rules of
// when work may begin.
std::string synchronisation_text();

}  // namespace stepscope::cli
