// ScheduleAttrs: by what the rate of the control block is multiplied at each step. After t steps,
// with s = t - warmup, the factor is
//
//   t < warmup    start + (1 - start) t / warmup                            LinearLR
//   constant      1                                                         ConstantLR(factor=1)
//   step          factor^floor(s / steps)                                   StepLR
//   exponential   factor^s                                                  ExponentialLR
//   cosine        floor + (1 - floor) (1 + cos(pi min(s, steps) / steps)) / 2
//                                                                           CosineAnnealingLR
//
// On the right the class of torch.optim.lr_scheduler that gives the same numbers; a warm-up goes
// over into what follows as SequentialLR does. The cosine is equation 5 of Loshchilov and Hutter,
// "SGDR", ICLR 2017; behind its steps the rate stays at the floor, where PyTorch's rises again.
// Floor and start are shares of the rate. A count of steps below 0 is taken as 0.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string_view>

namespace stepscope {

enum class ScheduleKind : std::uint8_t { constant, step, exponential, cosine };

std::string_view name(ScheduleKind kind);

struct ScheduleAttrs {
  ScheduleKind kind = ScheduleKind::constant;
  std::int64_t steps = 1;   // step: between two changes; cosine: until the floor is reached
  double factor = 1.0;      // step, exponential
  double floor = 0.0;       // cosine
  std::int64_t warmup = 0;  // steps of the warm-up
  double start = 0.0;       // of the warm-up, at the first step
  friend bool operator==(const ScheduleAttrs&, const ScheduleAttrs&) = default;
  template <class Self, class Visit>
  static void fields(Self& self, Visit&& visit) {
    visit("kind", self.kind);
    visit("steps", self.steps);
    visit("factor", self.factor);
    visit("floor", self.floor);
    visit("warmup", self.warmup);
    visit("start", self.start);
  }

  // The factor is 1 at every step.
  bool is_constant() const { return kind == ScheduleKind::constant && warmup == 0; }
};

}  // namespace stepscope
