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

}  // namespace
}  // namespace stepscope
