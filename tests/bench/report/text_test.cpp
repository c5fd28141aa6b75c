// What people read: tables, numbers with units, and sentences that follow from the record.
// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include "bench/report/table.h"
#include "bench/report/text.h"

namespace stepscope {
namespace {

ArmRecord arm(std::string mode, std::int64_t batch, double median, double dispatch) {
  ArmRecord made;
  made.backend = "eigen";
  made.mode_requested = mode;
  made.mode_executed = mode;
  made.batch = batch;
  made.counts = {.ops = 17, .submissions = mode == "graph" ? 1U : 17U, .calls = 17};
  made.reserved_bytes = 2048;
  made.wall = {100, median / 2, median * 0.99, median, median * 1.01, median * 3, median};
  made.dispatch_empty_kernels = TimeSummary{.count = 31, .median_ns = dispatch};
  return made;
}

Record sample() {
  Record record;
  record.work = {"mlp:784-128-10", "sgd", 0.1, "generated", "f32", 1};
  for (const std::int64_t batch : {1, 32}) {
    const double median = batch == 1 ? 10'000.0 : 100'000.0;
    record.arms.push_back(arm("eager", batch, median, 850.0));
    record.arms.push_back(arm("graph", batch, median * 0.9, 68.0));
  }
  record.gates = {{"eigen", "eager", "graph", 1, "bits", 20, true, ""}};
  return record;
}

TEST(Text, TimesHaveThreeDigitsAndAUnit) {
  EXPECT_EQ(time_text(0.0), "0.00 ns");
  EXPECT_EQ(time_text(999.0), "999 ns");
  EXPECT_EQ(time_text(1234.0), "1.23 us");
  EXPECT_EQ(time_text(45'678'000.0), "45.7 ms");
  EXPECT_EQ(time_text(3.2e11), "320 s");
  EXPECT_EQ(bytes_text(2048.0), "2.00 KiB");
  EXPECT_EQ(bytes_text(5e9), "4.66 GiB");
}

TEST(Table, AlignsColumnsWithoutTrailingBlanks) {
  Table table({{"name", Table::Align::left}, {"n"}});
  table.add({"a", "1"});
  table.add({"long name", "12345"});
  EXPECT_EQ(table.text(),
            "name           n\n---------  -----\na              1\nlong name  12345\n");
}

TEST(CompareText, SaysWhatDispatchCostsAtEachEnd) {
  const std::string text = compare_text(sample());
  EXPECT_NE(text.find("equal work: 1 of 1 gates passed (bits)"), std::string::npos) << text;
  EXPECT_NE(
      text.find("At batch 1 on eigen, eager dispatch alone takes 850 ns a step (50.0 ns per "
                "op), against a step of 10.0 us (8.5 %); graph takes 0.900 of eager's median."),
      std::string::npos)
      << text;
  EXPECT_NE(text.find("At batch 32 on eigen"), std::string::npos) << text;
  EXPECT_NE(text.find("exploratory, without interval or verdict"), std::string::npos) << text;
}

TEST(CompareText, ADifferenceWithinTheSpreadIsCalledThat) {
  Record record = sample();
  record.arms[1] = arm("graph", 1, 9'990.0, 68.0);
  EXPECT_NE(compare_text(record).find("of eager's median, and their quartiles overlap"),
            std::string::npos);
}

TEST(CompareText, UnequalWorkGetsNoNumber) {
  Record record = sample();
  record.gates[0].passed = false;
  record.gates[0].detail = "w1 differs after step 1";
  for (ArmRecord& each : record.arms) {
    each.wall = {};
    each.dispatch_empty_kernels.reset();
  }
  const std::string text = compare_text(record);
  EXPECT_NE(text.find("UNEQUAL WORK: eigen batch 1, graph against eager (bits): w1 differs after "
                      "step 1"),
            std::string::npos)
      << text;
  EXPECT_NE(text.find("not measured"), std::string::npos);
  EXPECT_EQ(text.find("of eager's median"), std::string::npos);
}

}  // namespace
}  // namespace stepscope
