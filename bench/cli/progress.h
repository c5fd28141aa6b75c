// Progress on standard error, and only on a terminal; and the way a run is stopped by Ctrl-C.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <optional>
#include <stdexcept>
#include <string>

#include "bench/measure/clock.h"

namespace stepscope::cli {

// What part of a run a piece of it is, and how long it is from the piece's begin to the run's end
// where a plan says so.
struct RunShare {
  double from = 0.0, to = 1.0;
  std::optional<double> left_s;
};

// A line of progress without its line end: a bar, the share, what is done, and what follows that
// (`left`). Where the terminal is known to be so wide (`columns` above 0) it fits: `what` is cut
// first, and then the end.
std::string progress_line(double done, const std::string& what, const std::string& left,
                          std::size_t columns);

// The plan's time to the end, so long after the begin of the piece; nothing where there is no plan,
// or where it has run out: what is left then is not known.
std::optional<double> planned_left(const RunShare& share, double elapsed_s);

// Seconds from now to the end, where `first` was done when the clock was started and `done` now,
// both shares of the whole. Nothing while that is too little to tell.
std::optional<double> seconds_left(double elapsed_s, double first, double done);
// "about 40 s left", "about 5 min left"; empty at the end.
std::string time_left(double seconds);

// One line that is written over, ten times a second at most; cleared at the end. Whoever works
// between two calls pays a look at the clock, and nothing where no line is seen.
class ProgressLine {
 public:
  enum class Show : bool { never, on_terminal };
  // With the time that is left of the whole, by the plan or by how far it came.
  explicit ProgressLine(Show show, const RunShare& share = {});
  ~ProgressLine();
  ProgressLine(const ProgressLine&) = delete;
  ProgressLine& operator=(const ProgressLine&) = delete;

  // `done` in [0, 1], of the piece. Throws Interrupted after Ctrl-C.
  void update(const std::string& what, double done);
  // The same, whatever was interrupted.
  void show(const std::string& what, double done);
  // Whether a line shown now would be seen: ask before making its text.
  bool is_due() const;
  void clear();
  // From now on: what comes is that part of the whole.
  void set_share(const RunShare& share) { share_ = share, share_begun_ = now(); }

 private:
  std::string left_text(double done);

  bool visible_;
  RunShare share_;
  Stamp share_begun_;
  std::optional<Stamp> begun_;  // when the first line was written
  double first_ = 0.0;          // share of the whole that was done then
  Stamp shown_{};               // when the line was written
  std::size_t width_ = 0;       // of the line that stands there, in characters
};

// After Ctrl-C, thrown at the next safe point.
class Interrupted : public std::runtime_error {
 public:
  Interrupted() : std::runtime_error("interrupted; nothing was written") {}
  explicit Interrupted(const std::string& message) : std::runtime_error(message) {}
};

// The first Ctrl-C (or SIGTERM) is noted, a second one ends the program at once.
void note_interrupts();
bool is_interrupted();
void stop_if_interrupted();  // throws Interrupted

}  // namespace stepscope::cli
