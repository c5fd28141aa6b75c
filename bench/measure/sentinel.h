// Sentinel: the same small piece of work, again and again through a run. Its time changes only when
// the machine does.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

#include "bench/measure/timer.h"

namespace stepscope {

// A chain of integer arithmetic, each step waiting for the one before, without memory: about 100 us
// at the clock of present processors. Nanoseconds, the median of five.
std::int64_t run_sentinel(Timer& timer);

}  // namespace stepscope
