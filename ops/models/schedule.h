// Schedules of the rate as text, for commands and records.
//
//   constant                    the rate as it is
//   step:STEPS[:FACTOR]         times FACTOR (0.1) after every STEPS steps
//   exponential:FACTOR          times FACTOR after every step
//   cosine:STEPS[:FLOOR]        down to FLOOR (0) of the rate in STEPS steps, and stays there
//   warmup:STEPS[:START],KIND   in front of one of these: up from START (1 / (STEPS + 1)) of the
//                               rate in STEPS steps; alone: constant behind it
//
// Steps are steps of training, not epochs. The formulas: ops/ir/schedule_attrs.h.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <string_view>

#include "ops/ir/schedule_attrs.h"

namespace stepscope {

// Throws bad_input: unknown kinds (with the nearest), numbers that are none or out of range, parts
// that are missing, too many or in another order.
ScheduleAttrs parse_schedule(std::string_view text);

// Canonical: parse_schedule() of it gives the same; what has its default is left out.
std::string schedule_text(const ScheduleAttrs& schedule);

}  // namespace stepscope
