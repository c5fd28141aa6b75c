// Progress on standard error, and only on a terminal; and the way a run is stopped by Ctrl-C.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <stdexcept>
#include <string>

#include "bench/measure/clock.h"

namespace stepscope::cli {

// One line that is written over, ten times a second at most; cleared at the end. Whoever works
// between two calls pays a look at the clock, and nothing where no line is seen.
class ProgressLine {
 public:
  enum class Show : bool { never, on_terminal };
  explicit ProgressLine(Show show);
  ~ProgressLine();
  ProgressLine(const ProgressLine&) = delete;
  ProgressLine& operator=(const ProgressLine&) = delete;

  // `done` in [0, 1]. Throws Interrupted after Ctrl-C.
  void update(const std::string& what, double done);
  // The same, whatever was interrupted.
  void show(const std::string& what, double done);
  // Whether a line shown now would be seen: ask before making its text.
  bool is_due() const;
  void clear();

 private:
  bool visible_;
  Stamp shown_{};          // when the line was written
  std::size_t width_ = 0;  // of the line that stands there
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
