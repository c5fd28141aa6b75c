// Timer: the one way in which measuring code asks what time it is. A test puts another one in its
// place; a run knows the steady clock alone, so that no interval is ever negative because somebody
// set the time.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

#include "bench/measure/clock.h"

namespace stepscope {

class Timer {
 public:
  virtual ~Timer() = default;
  virtual std::int64_t now() = 0;  // ns; never falls
};

// Nanoseconds since it was made: a process makes one and hands it down.
class SteadyTimer final : public Timer {
 public:
  SteadyTimer() : start_(stepscope::now()) {}
  std::int64_t now() override {
    return std::chrono::nanoseconds(stepscope::now() - start_).count();
  }

 private:
  static_assert(Clock::is_steady);
  Stamp start_;
};

}  // namespace stepscope
