// Names of the kinds of schedules.
// SPDX-License-Identifier: Apache-2.0
#include "ops/ir/schedule_attrs.h"

namespace stepscope {

std::string_view name(ScheduleKind kind) {
  switch (kind) {
    case ScheduleKind::constant:
      return "constant";
    case ScheduleKind::step:
      return "step";
    case ScheduleKind::exponential:
      return "exponential";
    case ScheduleKind::cosine:
      return "cosine";
  }
  return "?";
}

}  // namespace stepscope
