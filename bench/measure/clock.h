// The one clock of measuring code: steady, so that no interval is ever negative because somebody
// set the time. Wall-clock time is for dates in a record and is read elsewhere.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chrono>

namespace stepscope {

using Clock = std::chrono::steady_clock;
static_assert(Clock::is_steady);

using Stamp = Clock::time_point;

inline Stamp now() { return Clock::now(); }

}  // namespace stepscope
