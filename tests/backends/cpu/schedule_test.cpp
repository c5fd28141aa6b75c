// The rate's schedule on every instruction set: bits of the reference, over many steps. With and
// without fused multiply-add, the formula of backends/api/scheduled_rate.h is the same.
// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include <bit>
#include <cmath>

#include "backends/api/scheduled_rate.h"
#include "ops/base/philox.h"
#include "ops/models/schedule.h"
#include "tests/backends/cpu/own_backend.h"
#include "tests/conformance/cells.h"

namespace stepscope::cpu {
namespace {

constexpr std::array kSchedules = {
    "warmup:1000",       "warmup:77:0.3,step:100:0.7", "step:13:0.99", "exponential:0.9999",
    "exponential:1.001", "cosine:5000:0.01",           "cosine:4999",  "warmup:100,cosine:100000"};

OpSite site_of(std::string_view schedule) {
  return cpu::site_of(OpKind::ScheduledRate, parse_schedule(schedule),
                      {{Shape{}, DType::f32}, {Shape{}, DType::i32}});
}

// The body at once, without a stream around it.
float computed(const Body& body, float rate, std::int32_t finished) {
  float made = 0.0F;
  std::byte* const operands[] = {reinterpret_cast<std::byte*>(&rate),
                                 reinterpret_cast<std::byte*>(&finished),
                                 reinterpret_cast<std::byte*>(&made)};
  body(operands, nullptr);
  return made;
}

// sin(x)^2 and powers in 64 bits of fraction, where the processor has them.
long double exact_factor(const ScheduleAttrs& schedule, std::int64_t step) {
  constexpr long double kHalfPi = 1.57079632679489661923132169163975144L;
  if (step < schedule.warmup) {
    const long double start = schedule.start;
    return start + (1 - start) * static_cast<long double>(step) / schedule.warmup;
  }
  step -= schedule.warmup;
  switch (schedule.kind) {
    case ScheduleKind::constant:
      return 1;
    case ScheduleKind::step:
      return std::pow(static_cast<long double>(schedule.factor), step / schedule.steps);
    case ScheduleKind::exponential:
      return std::pow(static_cast<long double>(schedule.factor), step);
    case ScheduleKind::cosine: {
      const std::int64_t left = std::max<std::int64_t>(schedule.steps - step, 0);
      const long double sine = std::sin(kHalfPi * static_cast<long double>(left) / schedule.steps);
      const long double floor = schedule.floor;
      return floor + (1 - floor) * sine * sine;
    }
  }
  return 0;
}

// Ten units of f64: far below the half unit of f32 that the result is rounded by.
TEST(ScheduleFormula, IsAccurateInF64) {
  for (const char* text : kSchedules) {
    const ScheduleAttrs schedule = parse_schedule(text);
    const ScheduleNumbers numbers = schedule_numbers(schedule);
    for (std::int32_t step = 0; step < 120000; step += 1 + step / 50) {
      const long double exact = exact_factor(schedule, step);
      const double factor = schedule_factor(numbers, step);
      ASSERT_NEAR(static_cast<double>(factor - exact), 0.0,
                  10 * 0x1p-53 * static_cast<double>(exact))
          << text << " after " << step;
    }
  }
}

TEST(ScheduleFormula, HasExactEnds) {
  const ScheduleNumbers numbers = schedule_numbers(parse_schedule("cosine:1000"));
  EXPECT_EQ(schedule_factor(numbers, 0), 1.0);
  EXPECT_GT(schedule_factor(numbers, 999), 0.0);
  EXPECT_EQ(schedule_factor(numbers, 1000), 0.0);
  EXPECT_EQ(schedule_factor(schedule_numbers(parse_schedule("warmup:10:0.5")), 10), 1.0);
}

TEST(CpuSchedule, HasTheSameBitsOnEveryInstructionSet) {
  Philox draws(2024, 0);
  for (const char* text : kSchedules) {
    const OpSite site = site_of(text);
    const ScheduleNumbers numbers = schedule_numbers(std::get<ScheduleAttrs>(site.attrs));
    for (const Isa isa : runnable_isas()) {
      const Body body = make_body(site, isa);
      for (std::int32_t step = 0; step < 6000; ++step) {
        const auto rate = static_cast<float>(draws.uniform(1e-4, 1.0));
        ASSERT_EQ(std::bit_cast<std::uint32_t>(computed(body, rate, step)),
                  std::bit_cast<std::uint32_t>(scheduled_rate(numbers, rate, step)))
            << text << " after " << step << " on " << static_cast<int>(isa);
      }
    }
  }
}

TEST(CpuSchedule, HasTheBitsOfTheReference) {
  Backend& reference = conformance::backend("reference");
  for (const char* text : kSchedules) {
    const OpSite site = site_of(text);
    const auto kernel = reference.lower(site);
    const Body body = make_body(site, Isa::v2);
    for (std::int32_t step = 0; step < 6000; step += 7) {
      const float rate = 0.1F;
      const auto result = conformance::run_op(
          reference, *kernel, {bytes_of({rate}), bytes_of({std::bit_cast<float>(step)})});
      ASSERT_EQ(result.outputs.at(0), bytes_of({computed(body, rate, step)}))
          << text << " after " << step;
    }
  }
}

}  // namespace
}  // namespace stepscope::cpu
