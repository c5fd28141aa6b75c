// A schedule's settings, as numbers.
// SPDX-License-Identifier: Apache-2.0
#include "backends/api/schedule_numbers.h"

#include "ops/ir/schedule_attrs.h"

namespace stepscope {

ScheduleNumbers schedule_numbers(const ScheduleAttrs& schedule) {
  using Decay = ScheduleNumbers::Decay;
  ScheduleNumbers numbers{Decay::none,
                          static_cast<std::int32_t>(schedule.steps),
                          static_cast<std::int32_t>(schedule.warmup),
                          schedule.factor,
                          schedule.floor,
                          schedule.start};
  switch (schedule.kind) {
    case ScheduleKind::constant:
      break;
    case ScheduleKind::step:
      numbers.decay = Decay::power;
      break;
    case ScheduleKind::exponential:
      numbers.decay = Decay::power;
      numbers.steps = 1;  // a change behind every step
      break;
    case ScheduleKind::cosine:
      numbers.decay = Decay::cosine;
      break;
  }
  return numbers;
}

}  // namespace stepscope
