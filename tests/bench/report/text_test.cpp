// What people read: tables, numbers with units, and sentences that follow from the record.
// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include "bench/report/table.h"
#include "bench/report/text.h"

namespace stepscope {
namespace {

bool has(const std::string& text, std::string_view part) {
  return text.find(part) != std::string::npos;
}

// With one blank where there are several: what a table says, whatever its widths.
std::string squeezed(const std::string& text) {
  std::string squeezed;
  for (const char c : text) {
    if (c != ' ' || squeezed.empty() || squeezed.back() != ' ') squeezed += c;
  }
  return squeezed;
}

ArmRecord arm(std::string mode, std::int64_t batch, double median, double dispatch) {
  ArmRecord made;
  made.backend = "eigen";
  made.mode_requested = mode;
  made.mode_executed = mode;
  made.batch = batch;
  made.counts = {.ops = 17,
                 .submissions = mode == "graph" ? 1U : 17U,
                 .calls = 17,
                 .library_calls = 5,
                 .own_calls = 12,
                 .intermediate_bytes = 4096};
  made.flops = 1000.0;
  made.library_flops = 987.0;
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
  record.gates = {{.backend = "eigen",
                   .baseline_mode = "eager",
                   .mode = "graph",
                   .batch = 1,
                   .criterion = "bits",
                   .steps = 20,
                   .passed = true}};
  return record;
}

// Graph with a choice of passes at batch 32: 17 ops become `ops`.
ArmRecord fused(std::string fusion, double median, std::uint64_t ops, std::uint64_t bytes) {
  ArmRecord made = arm("graph", 32, median, 60.0);
  made.fusion = std::move(fusion);
  made.counts.ops = made.counts.calls = ops;
  made.counts.intermediate_bytes = bytes;
  made.passes = {
      {.name = "simplify", .changed = true, .ops_before = 18, .ops_after = 17},
      {.name = "epilogue",
       .fusion = true,
       .changed = true,
       .ops_before = 17,
       .ops_after = 14,
       .intermediate_bytes_removed = 1024,
       .time_ns = 12'000},
      {.name = "fold_sgd", .fusion = true, .notes = {"w1: momentum has no fold", "w2: the same"}}};
  made.ratios = {{.mode = "graph", .fusion = "off", .medians = median / 90'000.0}};
  return made;
}

// All passes, all but one, none: what `--ablate` records.
Record ablated() {
  Record record = sample();
  record.arms.push_back(fused("on", 80'000.0, 14, 3072));
  ArmRecord without = fused("-epilogue", 88'000.0, 17, 4096);
  without.ratios.push_back(
      {.mode = "graph", .fusion = "on", .medians = 1.1, .q1 = 1.05, .q3 = 1.2});
  record.arms.push_back(without);
  for (ArmRecord& each : record.arms) {
    if (each.batch != 32 || each.mode_requested != "graph" || each.fusion != "off") continue;
    each.ratios = {{.mode = "graph", .fusion = "on", .medians = 1.125, .q1 = 1.1, .q3 = 1.25}};
  }
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

TEST(CompareText, TellsArmsByFusionAndTheirRatios) {
  Record record = sample();
  record.arms.push_back(fused("on", 80'000.0, 14, 3072));
  record.arms.back().ratios.push_back({.mode = "eager", .fusion = "off", .medians = 0.8});
  const std::string text = squeezed(compare_text(record));
  EXPECT_TRUE(has(text, "eigen 32 graph on 80.0 us 79.2 us .. 80.8 us 0.800 - 0.889\n")) << text;
  // ops, reorders, submissions, calls, by library, its flops
  EXPECT_TRUE(has(text, "eigen 32 graph on 14 0 1 14 5 98.7 %")) << text;
}

TEST(CompareText, SaysWhatFusionRemovedAndWhatItDidToTheTime) {
  Record record = sample();
  record.arms.push_back(fused("on", 80'000.0, 14, 3072));
  const std::string text = squeezed(compare_text(record));
  EXPECT_TRUE(has(text,
                  "At batch 32 on eigen, fusion removes 3 of 17 ops and 1.00 KiB of 4.00 KiB of "
                  "intermediates; in mode graph the step takes 0.889 of the unfused median.\n"))
      << text;
  record.arms.back() = fused("layout", 89'500.0, 19, 5120);
  const std::string more = compare_text(record);
  EXPECT_TRUE(
      has(more,
          "fusion (layout) turns 17 ops into 19 and 4.00 KiB of intermediates into 5.00 KiB; in "
          "mode graph the step takes 0.994 of the unfused median, and their quartiles overlap.\n"))
      << more;
}

TEST(CompareText, ListsWhatEachPassRemovedAndWhyOneDidNot) {
  Record record = sample();
  record.arms.push_back(fused("on", 80'000.0, 14, 3072));
  const std::string text = squeezed(compare_text(record));
  EXPECT_TRUE(has(text, "passes of eigen, batch 32, fusion on:\n")) << text;
  EXPECT_TRUE(has(text, "epilogue 3 1.00 KiB 12.0 us\n")) << text;
  EXPECT_TRUE(has(text, "w1: momentum has no fold (and 1 more)\n")) << text;
}

TEST(CompareText, AblationSaysWhatEachPassIsWorth) {
  const std::string text = squeezed(compare_text(ablated()));
  EXPECT_TRUE(has(text, "passes of eigen, batch 32, mode graph, one left out at a time:\n"))
      << text;
  EXPECT_TRUE(has(text, "epilogue 3 3 1.00 KiB 1.100 (1.050 .. 1.200)\n")) << text;
  EXPECT_TRUE(has(text, "no effect here w1: momentum has no fold (and 1 more)\n")) << text;
  EXPECT_TRUE(has(text, "all of them 3 3 1.00 KiB 1.125 (1.100 .. 1.250)\n")) << text;
  EXPECT_TRUE(has(text,
                  "At batch 32 on eigen, the pass that is worth most in mode graph is epilogue: "
                  "without it the step takes 1.100 of the median with all.\n"))
      << text;
  EXPECT_FALSE(has(text, "simplify")) << text;  // it runs always: nothing to leave out
  EXPECT_FALSE(has(text, "fusion on:\n")) << text;
}

TEST(CompareText, HasFiveSentencesAtMost) {
  Record record = ablated();
  const std::size_t arms = record.arms.size();
  for (std::size_t i = 0; i < arms; ++i) {
    record.arms.push_back(record.arms[i]);
    record.arms.back().backend = "onednn";
  }
  const std::string text = squeezed(compare_text(record));
  std::size_t count = 0;
  for (std::size_t at = 0; (at = text.find("At batch", at)) != std::string::npos; ++at) ++count;
  EXPECT_EQ(count, 4U) << text;
}

TEST(EpochRow, HasNoAccuracyWhereThereIsNone) {
  EpochRecord epoch{.epoch = 1, .training_loss = 0.5, .validation_loss = 0.25};
  EXPECT_NE(epoch_row(epoch).find("  0.50000    0.25000         -  "), std::string::npos)
      << epoch_row(epoch);
  epoch.validation_accuracy = 0.0;
  EXPECT_NE(epoch_row(epoch).find("  0.25000     0.00%  "), std::string::npos) << epoch_row(epoch);
  EXPECT_EQ(epoch_row(epoch).size(), epoch_header().size());
}

}  // namespace
}  // namespace stepscope
