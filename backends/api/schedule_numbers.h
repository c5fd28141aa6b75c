// A schedule of the rate as plain numbers, which kernels take: of processors and of CUDA alike.
// Nothing in here changes from step to step.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

namespace stepscope {

struct ScheduleAttrs;

struct ScheduleNumbers {
  enum class Decay : std::uint8_t { none, power, cosine };
  Decay decay;
  std::int32_t steps, warmup;
  double factor, floor, start;
};

// Requires: the attributes passed the shape rule of ScheduledRate.
ScheduleNumbers schedule_numbers(const ScheduleAttrs& schedule);

}  // namespace stepscope
