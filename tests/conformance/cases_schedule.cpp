// Cases of the rate's schedule. One rounding: every backend gives the bits of the reference.
// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <limits>

#include "tests/conformance/op_cases.h"
#include "tests/conformance/tolerance.h"

namespace stepscope::conformance {
namespace {

constexpr double kInf = std::numeric_limits<double>::infinity();
constexpr double kNan = std::numeric_limits<double>::quiet_NaN();
using ScheduleKind::cosine;
using ScheduleKind::exponential;
using ScheduleKind::step;

struct Named {
  std::string_view name;
  ScheduleAttrs schedule;
};

std::vector<Named> schedules() {
  return {
      {"constant", {}},
      {"warmup", {.warmup = 9, .start = 0.1}},
      {"warmup_from_zero", {.warmup = 1000}},
      {"step", {.kind = step, .steps = 30, .factor = 0.1}},
      {"step_after_warmup",
       {.kind = step, .steps = 7, .factor = 0.3, .warmup = 5, .start = 1.0 / 6.0}},
      {"exponential", {.kind = exponential, .factor = 0.999}},
      {"growing", {.kind = exponential, .factor = 1.0001}},
      {"cosine", {.kind = cosine, .steps = 1000}},
      {"cosine_to_floor", {.kind = cosine, .steps = 997, .floor = 0.01}},
      {"cosine_after_warmup",
       {.kind = cosine, .steps = 90000, .floor = 0.1, .warmup = 10000, .start = 0.001}},
      {"cosine_of_one_step", {.kind = cosine, .steps = 1, .floor = 0.25}},
  };
}

SpecialCase special(std::string name, const ScheduleAttrs& schedule, double rate, double finished,
                    double expected) {
  return {std::move(name),
          schedule,
          {{{Shape{}, DType::f32}, {rate}, nullptr}, {{Shape{}, DType::i32}, {finished}, nullptr}},
          {{expected}}};
}

std::vector<SpecialCase> specials() {
  const ScheduleAttrs up{.warmup = 3, .start = 0.25};
  const ScheduleAttrs stairs{.kind = step, .steps = 3, .factor = 0.5};
  const ScheduleAttrs grown{.kind = exponential, .factor = 2.0};
  const ScheduleAttrs shrunk{.kind = exponential, .factor = 0.5};
  const ScheduleAttrs wave{.kind = cosine, .steps = 4, .floor = 0.5};
  const ScheduleAttrs later{.kind = cosine, .steps = 4, .warmup = 2, .start = 0.5};
  return {
      special("warmup_begins_at_its_start", up, 8, 0, 2),
      special("warmup_rises_evenly", up, 8, 2, 6),
      special("warmup_ends_at_the_rate", up, 8, 3, 8),
      special("stair_stays", stairs, 8, 2, 8),
      special("stair_goes_down", stairs, 8, 3, 4),
      special("stair_goes_down_again", stairs, 8, 8, 2),
      special("power", grown, 0.75, 10, 768),
      special("power_beyond_every_number", grown, 1, 2000, kInf),
      special("power_of_a_zero_rate_beyond_every_number", grown, 0, 2000, kNan),
      special("power_below_every_number", shrunk, 1, 2000, 0),
      special("power_at_the_last_step", grown, 0.5, 2147483647, kInf),
      special("cosine_begins_at_the_rate", wave, 8, 0, 8),
      special("cosine_is_half_way_in_the_middle", wave, 8, 2, 6),
      special("cosine_ends_at_its_floor", wave, 8, 4, 4),
      special("cosine_does_not_rise_again", wave, 8, 6, 4),
      special("cosine_stays_at_its_floor", wave, 8, 2147483647, 4),
      special("cosine_waits_for_the_warmup", later, 8, 2, 8),
      special("cosine_counts_from_the_warmup", later, 8, 4, 4),
      special("a_count_below_zero_is_zero", up, 8, -7, 2),
      special("spoiled_rate", wave, kNan, 2, kNan),
      special("infinite_rate", wave, kInf, 2, kInf),
      special("infinite_rate_times_nothing", later, kInf, 6, kNan),
      special("negative_rate", wave, -8, 2, -6),
  };
}

}  // namespace

OpCases cases_of_ScheduledRate() {
  OpCases table{Agreement::equal_bits, relative(1), {}, specials()};
  for (const Named& each : schedules()) {
    for (const double finished : {0.0, 1.0, 4.0, 8.0, 500.0, 996.0, 12345.0, 99999.0}) {
      table.cases.push_back(
          {fmt::format("{}_after_{}", each.name, finished),
           each.schedule,
           {f32(Shape{}, uniform(0.001, 1.0)), i32(Shape{}, constant(finished))}});
    }
  }
  return table;
}

}  // namespace stepscope::conformance
