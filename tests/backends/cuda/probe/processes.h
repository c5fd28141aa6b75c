// A part of the probe in a process of its own: the program itself, started anew.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chrono>
#include <string>
#include <string_view>

namespace stepscope::probe {

struct Ended {
  int status = 0;  // its exit status; meaningless unless it exited
  int signal = 0;  // that ended it; 0: none
  bool timed_out = false;
  bool started = true;

  bool exited() const { return started && !timed_out && signal == 0; }
};

// Starts this program with `--rule PART`, lets it print where this one prints, and ends it when the
// limit is over.
Ended run_part(std::string_view part, std::chrono::seconds limit);

// "ended by signal 11 (Segmentation fault)", and so on.
std::string describe(const Ended& ended, std::chrono::seconds limit);

}  // namespace stepscope::probe
