// Schedules as text: what is read, what is written, and what is said of mistakes.
// SPDX-License-Identifier: Apache-2.0
#include "ops/models/schedule.h"

#include <gtest/gtest.h>

#include <array>

#include "ops/ir/parse.h"
#include "ops/ir/print.h"
#include "tests/support/errors.h"

namespace stepscope {
namespace {

using test::error_of;

std::string error(std::string_view text) {
  return error_of([&] { (void)parse_schedule(text); });
}

TEST(Schedules, AreReadAndWritten) {
  struct Case {
    std::string_view text;
    ScheduleAttrs expected;
    std::string_view canonical{};  // empty: as `text`
  };
  using enum ScheduleKind;
  const std::array cases = {
      Case{"constant", {}},
      Case{"step:30", {.kind = step, .steps = 30, .factor = 0.1}},
      Case{"step:30:0.1", {.kind = step, .steps = 30, .factor = 0.1}, "step:30"},
      Case{"step:2147483647:2e-3",
           {.kind = step, .steps = 2147483647, .factor = 0.002},
           "step:2147483647:0.002"},
      Case{"exponential:0.95", {.kind = exponential, .factor = 0.95}},
      Case{"exponential:1.01", {.kind = exponential, .factor = 1.01}},
      Case{"cosine:1000", {.kind = cosine, .steps = 1000}},
      Case{"cosine:1000:0", {.kind = cosine, .steps = 1000}, "cosine:1000"},
      Case{"cosine:1000:0.01", {.kind = cosine, .steps = 1000, .floor = 0.01}},
      Case{"warmup:99", {.warmup = 99, .start = 0.01}},
      Case{"warmup:99,constant", {.warmup = 99, .start = 0.01}, "warmup:99"},
      Case{"warmup:99:0", {.warmup = 99, .start = 0.0}},
      Case{"warmup:99:0.01", {.warmup = 99, .start = 0.01}, "warmup:99"},
      Case{"warmup:3,cosine:1000:0.01",
           {.kind = cosine, .steps = 1000, .floor = 0.01, .warmup = 3, .start = 0.25}},
      Case{"warmup:3:0.5,step:7:0.3",
           {.kind = step, .steps = 7, .factor = 0.3, .warmup = 3, .start = 0.5}},
  };
  for (const Case& each : cases) {
    const ScheduleAttrs read = parse_schedule(each.text);
    EXPECT_EQ(read, each.expected) << each.text;
    const std::string written = schedule_text(read);
    EXPECT_EQ(written, each.canonical.empty() ? each.text : each.canonical);
    EXPECT_EQ(parse_schedule(written), read) << written;
  }
}

// As an op's settings, in printed steps.
TEST(Schedules, AreSettingsOfAnOp) {
  const std::string text =
      "stepscope-ir 1\n"
      "state control.lr : f32{}\n"
      "state control.step : i32{}\n"
      "%0 : f32{} = ScheduledRate(control.lr, control.step) {kind = cosine, steps = 1000, factor = "
      "1, floor = 0.01, warmup = 9, start = 0.1} @ update\n"
      "keep %0\n";
  const StepFile file = parse_step(text, "net.step");
  EXPECT_EQ(to_text(instantiate(file, 1)), text);
  EXPECT_EQ(instantiate(file, 1).ops()[0].attrs,
            Attrs(parse_schedule("warmup:9,cosine:1000:0.01")));
  std::string wrong = text;
  wrong.replace(wrong.find("cosine"), 6, "cosin");
  EXPECT_EQ(error_of([&] { (void)parse_step(wrong, "net.step"); }),
            "bad input: net.step:4:62: unknown schedule 'cosin': did you mean 'cosine'? (there "
            "are: constant, step, exponential, cosine)");
}

TEST(Schedules, AreConstantOnlyWithoutWarmup) {
  EXPECT_TRUE(ScheduleAttrs{}.is_constant());
  EXPECT_TRUE(parse_schedule("constant").is_constant());
  EXPECT_FALSE(parse_schedule("warmup:1").is_constant());
  EXPECT_FALSE(parse_schedule("exponential:1").is_constant());
}

TEST(Schedules, NameTheNearestKind) {
  constexpr std::string_view kKinds = "(there are: constant, step, exponential, cosine, warmup)";
  EXPECT_EQ(error("cosin:10"),
            fmt::format("bad input: unknown schedule 'cosin': did you mean 'cosine'? {}", kKinds));
  EXPECT_EQ(error("warmup:10,stp:3"),
            fmt::format("bad input: unknown schedule 'stp': did you mean 'step'? {}", kKinds));
  EXPECT_EQ(error("wramup:10"),
            fmt::format("bad input: unknown schedule 'wramup': did you mean 'warmup'? {}", kKinds));
  EXPECT_EQ(error(""),
            fmt::format("bad input: unknown schedule '': did you mean 'step'? {}", kKinds));
}

TEST(Schedules, SayWhichNumberIsWrong) {
  EXPECT_EQ(error("cosine:0"),
            "bad input: schedule 'cosine:0': '0' are no steps: a whole number from 1 to "
            "2147483647");
  EXPECT_EQ(error("step:2147483648"),
            "bad input: schedule 'step:2147483648': '2147483648' are no steps: a whole number from "
            "1 to 2147483647");
  for (const std::string_view steps :
       {"cosine:", "cosine:1.5", "cosine: 7", "warmup:-1", "step:x"}) {
    EXPECT_NE(error(steps).find("are no steps"), std::string::npos) << steps;
  }
  EXPECT_EQ(error("exponential:0"),
            "bad input: schedule 'exponential:0': '0' is no factor: a number above 0");
  for (const std::string_view factor :
       {"exponential:", "exponential:inf", "exponential:nan", "exponential:-1", "step:3:1e999"}) {
    EXPECT_NE(error(factor).find("is no factor"), std::string::npos) << factor;
  }
  EXPECT_EQ(error("cosine:10:1.5"),
            "bad input: schedule 'cosine:10:1.5': '1.5' is no floor: a share of the rate, from 0 "
            "to 1");
  EXPECT_EQ(error("warmup:10:nan,cosine:3"),
            "bad input: schedule 'warmup:10:nan,cosine:3': 'nan' is no start: a share of the rate, "
            "from 0 to 1");
}

TEST(Schedules, SayWhatIsMissingOrTooMuch) {
  EXPECT_EQ(error("cosine"),
            "bad input: schedule 'cosine': cosine needs more numbers: cosine:STEPS[:FLOOR]");
  EXPECT_EQ(error("constant:1"),
            "bad input: schedule 'constant:1': constant takes no numbers, write constant");
  EXPECT_EQ(error("exponential:0.9:3"),
            "bad input: schedule 'exponential:0.9:3': exponential takes 1 number at most: "
            "exponential:FACTOR");
  EXPECT_EQ(error("warmup:1:0.5:2"),
            "bad input: schedule 'warmup:1:0.5:2': warmup takes 2 numbers at most: "
            "warmup:STEPS[:START]");
  EXPECT_EQ(error("cosine:10,warmup:5"),
            "bad input: schedule 'cosine:10,warmup:5': only a warmup goes before another, as in "
            "warmup:100,cosine:10");
  EXPECT_EQ(error("warmup:5,warmup:5"),
            "bad input: schedule 'warmup:5,warmup:5': two warmups, one is enough");
  EXPECT_EQ(
      error("warmup:5,step:5,cosine:5"),
      "bad input: schedule 'warmup:5,step:5,cosine:5': 3 parts, at most two are: a warmup and "
      "what follows it");
}

}  // namespace
}  // namespace stepscope
