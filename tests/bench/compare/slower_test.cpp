// What --fail-on slower fails on.
// SPDX-License-Identifier: Apache-2.0
#include "bench/compare/slower.h"

#include <gtest/gtest.h>

namespace stepscope {
namespace {

RatioRecord ratio_with(const char* verdict) {
  RatioRecord ratio;
  ratio.verdict = verdict;
  return ratio;
}

TEST(Slower, IsAPairOfArmsOrAnArmAgainstTheBaseline) {
  Record record;
  record.pairs.push_back({.base = "a", .of = "b", .ratios = {ratio_with("FASTER")}});
  record.pairs.push_back(
      {.base = "a", .of = "c", .ratios = {ratio_with("SAME"), ratio_with("SLOWER")}});
  record.pairs.push_back(
      {.base = "a", .of = "a/planted", .kind = "planted", .ratios = {ratio_with("SLOWER")}});
  BaselineRecord row;
  row.arm = "d";
  row.verdict = "UNDECIDED";
  record.baseline.push_back(row);
  EXPECT_EQ(slower_of(record), std::vector<std::string>{"c than a"});
  record.baseline[0].verdict = "SLOWER";
  EXPECT_EQ(slower_of(record), (std::vector<std::string>{"d than in the baseline", "c than a"}));
}

TEST(Slower, WhatIsVoidCannotBeTold) {
  RatioRecord broken = ratio_with("void");
  broken.time_ratio = Interval{.estimate = 1.5};
  broken.verdict_reason = "A/A control a/again: its floor is 7.0 %, above 5 %";
  RatioRecord lost = ratio_with("void");  // has no ratio at all
  lost.verdict_reason = "every block is voided";
  RatioRecord thin = ratio_with("exploratory");
  thin.verdict_reason = "too few blocks";
  Record record;
  record.pairs.push_back({.base = "a", .of = "b", .ratios = {ratio_with("SAME")}});
  record.pairs.push_back({.base = "a", .of = "c", .ratios = {ratio_with("SAME"), broken}});
  record.pairs.push_back({.base = "a", .of = "d", .ratios = {lost}});
  record.pairs.push_back({.base = "a", .of = "e", .ratios = {thin}});
  record.pairs.push_back({.base = "a", .of = "a/again", .kind = "control", .ratios = {broken}});
  EXPECT_EQ(untold_of(record), (std::vector<std::string>{
                                   "c over a: A/A control a/again: its floor is 7.0 %, above 5 %",
                                   "d over a: every block is voided", "e over a: too few blocks"}));
  EXPECT_EQ(slower_of(record), std::vector<std::string>{});
}

}  // namespace
}  // namespace stepscope
