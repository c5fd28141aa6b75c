// How long a run still takes, as it is told; and the share of it that a child is asked to tell of.
// SPDX-License-Identifier: Apache-2.0
#include "bench/cli/progress.h"

#include <gtest/gtest.h>

#include "bench/cli/worker.h"

namespace stepscope::cli {
namespace {

TEST(SecondsLeft, GoesByHowFarItCame) {
  EXPECT_DOUBLE_EQ(seconds_left(10.0, 0.0, 0.25).value(), 30.0);
  EXPECT_DOUBLE_EQ(seconds_left(10.0, 0.5, 0.75).value(), 10.0);  // a run that was resumed half way
  EXPECT_DOUBLE_EQ(seconds_left(10.0, 0.0, 1.0).value(), 0.0);
}

TEST(SecondsLeft, IsNotToldWhereNothingIsKnown) {
  EXPECT_FALSE(seconds_left(10.0, 0.0, 0.0).has_value());
  EXPECT_FALSE(seconds_left(10.0, 0.5, 0.5).has_value());
  EXPECT_FALSE(seconds_left(10.0, 0.0, 0.001).has_value());
  EXPECT_FALSE(seconds_left(0.1, 0.0, 0.5).has_value());
}

TEST(TimeLeft, IsRoundedToWhatPeopleSay) {
  EXPECT_EQ(time_left(0.0), "");
  EXPECT_EQ(time_left(-3.0), "");
  EXPECT_EQ(time_left(0.2), "about 1 s left");
  EXPECT_EQ(time_left(9.1), "about 10 s left");
  EXPECT_EQ(time_left(36.0), "about 40 s left");
  EXPECT_EQ(time_left(40.0), "about 40 s left");
  EXPECT_EQ(time_left(119.0), "about 120 s left");
  EXPECT_EQ(time_left(130.0), "about 2 min left");
  EXPECT_EQ(time_left(3600.0), "about 60 min left");
  EXPECT_EQ(time_left(3600.0 * 2 + 600.0), "about 2 h 10 min left");
  EXPECT_EQ(time_left(1e300), time_left(1e9));
}

TEST(PlannedLeft, IsWhatThePlanSaysLessWhatIsGone) {
  EXPECT_DOUBLE_EQ(planned_left({.from = 0.0, .to = 0.0, .left_s = 170.0}, 30.0).value(), 140.0);
  EXPECT_FALSE(planned_left({.left_s = 170.0}, 170.0).has_value());  // late: nobody knows
  EXPECT_FALSE(planned_left({.left_s = 170.0}, 200.0).has_value());
  EXPECT_FALSE(planned_left({}, 1.0).has_value());
}

TEST(ProgressLine, IsCutToTheTerminal) {
  const std::string bar = "[############............]  50 %  ";
  const std::string what = "process 3 of 10, onednn batch 32", left = ", about 170 s left";
  EXPECT_EQ(progress_line(0.5, what, left, 0), bar + what + left);
  EXPECT_EQ(progress_line(0.5, what, left, 200), bar + what + left);
  const std::string usual = progress_line(0.5, what, left, 80);
  EXPECT_EQ(usual, bar + "process 3 of 10, onednn bat" + left);
  EXPECT_EQ(usual.size(), 79U);
  EXPECT_EQ(progress_line(0.5, what, left, 40), (bar + left).substr(0, 39));
  EXPECT_EQ(progress_line(0.5, what, left, 1), "");
  // A character is no two, and none is cut through.
  EXPECT_EQ(progress_line(0.5, "ää", "", bar.size() + 3), bar + "ää");
  EXPECT_EQ(progress_line(0.5, "ää", "", bar.size() + 2), bar + "ä");
}

TEST(WorkerOrder, TellsWhatPartOfTheRunItIs) {
  const WorkerOrder order{.backend = "null",
                          .record = "r",
                          .label = "process 2 of 10",
                          .share = {.from = 0.25, .to = 0.5, .left_s = 170.0}};
  const WorkerOrder back = worker_order_from(to_text(order), "here");
  EXPECT_EQ(back.label, "process 2 of 10");
  EXPECT_DOUBLE_EQ(back.share.from, 0.25);
  EXPECT_DOUBLE_EQ(back.share.to, 0.5);
  EXPECT_DOUBLE_EQ(back.share.left_s.value(), 170.0);
  EXPECT_FALSE(worker_order_from(to_text(WorkerOrder{}), "here").share.left_s.has_value());
}

}  // namespace
}  // namespace stepscope::cli
