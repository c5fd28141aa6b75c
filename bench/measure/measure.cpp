// Raw times of a function.
// SPDX-License-Identifier: Apache-2.0
#include "bench/measure/measure.h"

#include "ops/base/check.h"

namespace stepscope {

std::vector<double> measure(const std::function<void()>& fn, int warmup, int repeat,
                            const std::function<void()>& sync, Timer* timer) {
  check(warmup >= 0 && repeat >= 0, Fault::bad_input,
        "measure: {} calls to warm up and {} to time, expected 0 or more", warmup, repeat);
  SteadyTimer steady;
  Timer& used = timer != nullptr ? *timer : steady;
  std::vector<double> seconds;
  seconds.reserve(static_cast<std::size_t>(repeat));
  for (int i = 0; i < warmup; ++i) fn();
  for (int i = 0; i < repeat; ++i) {
    if (sync) sync();
    const std::int64_t start = used.now();
    fn();
    if (sync) sync();
    seconds.push_back(static_cast<double>(used.now() - start) * 1e-9);
  }
  return seconds;
}

}  // namespace stepscope
