// measure: the raw times of any function, for those who measure without a session.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <functional>
#include <vector>

#include "bench/measure/timer.h"

namespace stepscope {

// Seconds of each of `repeat` calls of `fn`, after `warmup` calls that are not timed. `sync` waits
// for the work that fn leaves behind: it is called before the first and again before the second
// stamp of each sample. Without a timer: the steady clock. Throws bad_input for negative counts.
std::vector<double> measure(const std::function<void()>& fn, int warmup, int repeat,
                            const std::function<void()>& sync = {}, Timer* timer = nullptr);

}  // namespace stepscope
