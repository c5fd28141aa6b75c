// The model of one stream: work runs in the order in which it was launched, each piece alone. Times
// follow from launches and durations, without a device and without a clock.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

namespace stepscope {

// A time in which the stream had nothing to do, between two pieces of work.
template <class Time>
struct Gap {
  std::size_t before = 0;  // the piece that ended it
  Time start{}, length{};
  friend bool operator==(const Gap&, const Gap&) = default;
};

// When each piece of work was launched, began and ended; in any one unit. `Time`: std::int64_t, for
// exact values, or double.
template <class Time>
struct Timeline {
  std::vector<Time> launches, starts, completions;
  std::vector<Time> queue_delays;  // start less launch: how long it lay in the queue
  Time busy{};                     // sum of the durations
  Time idle{};                     // span less busy: sum of the gaps
  Time span{};                     // from the first start to the last completion
  std::vector<Gap<Time>> gaps;

  Time end() const { return completions.empty() ? Time{} : completions.back(); }
  double active_share() const;  // busy of span; 0 without work

  // What a stamp at `stop` says of the time since `start`, if nobody waits for the stream.
  Time unsynchronised(Time start, Time stop) const { return stop - start; }
  // How much later than `stop` the last piece ends; 0 when all work lies before it.
  Time missed_tail(Time stop) const { return end() > stop ? end() - stop : Time{}; }
  // Whether an interval that ends at `stop` holds all the work.
  bool covered_by(Time stop) const { return end() <= stop; }
};

// f_i = max(f_(i-1), l_i) + e_i: a piece begins when it has been launched and the one before has
// ended. `launch`: when each may begin, never falling; `device`: how long each runs.
// Throws bad_input for lists of different lengths, a launch before the one ahead of it, a negative
// duration.
template <class Time>
Timeline<Time> run_fifo(std::span<const Time> launch, std::span<const Time> device);

// One submission at `launch` that runs all of `device` in order, each `between` after the one
// before: a graph. Its pieces wait for each other, not for the host: no queue delay, and the gaps
// lie within the replay.
template <class Time>
Timeline<Time> run_replay(Time launch, std::span<const Time> device, Time between);

}  // namespace stepscope
