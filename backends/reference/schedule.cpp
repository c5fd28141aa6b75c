// The rate of a step by its schedule.
// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cmath>
#include <numbers>

#include "backends/reference/kernel.h"

namespace stepscope::reference {
namespace {

// After `step` steps, as ops/ir/schedule_attrs.h says.
double factor_of(const ScheduleAttrs& schedule, std::int64_t step) {
  if (step < schedule.warmup) {
    const double done = static_cast<double>(step) / static_cast<double>(schedule.warmup);
    return schedule.start + (1.0 - schedule.start) * done;
  }
  step -= schedule.warmup;
  switch (schedule.kind) {
    case ScheduleKind::constant:
      return 1.0;
    case ScheduleKind::step:
      return std::pow(schedule.factor, static_cast<double>(step / schedule.steps));
    case ScheduleKind::exponential:
      return std::pow(schedule.factor, static_cast<double>(step));
    case ScheduleKind::cosine: {
      // (1 + cos(pi s)) / 2 = sin(pi / 2 (1 - s))^2, where nothing cancels near the end
      const auto left = static_cast<double>(std::max<std::int64_t>(schedule.steps - step, 0));
      const double sine =
          std::sin(std::numbers::pi / 2.0 * left / static_cast<double>(schedule.steps));
      return schedule.floor + (1.0 - schedule.floor) * sine * sine;
    }
  }
  return 1.0;
}

}  // namespace

// rate {}, step {} -> rate times the factor of that step
template <class T>
void ScheduledRate(const Call<T>& call) {
  const std::int64_t step = std::max(*call.in_i32(1), 0);
  const double factor = factor_of(call.template attrs<ScheduleAttrs>(), step);
  *call.out(0) = static_cast<T>(double{*call.in(0)} * factor);
}
STEPSCOPE_REFERENCE_KERNEL(ScheduledRate)

}  // namespace stepscope::reference
