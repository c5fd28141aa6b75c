// What figures show: the numbers of the record, and nothing made from them by subtraction.
// SPDX-License-Identifier: Apache-2.0
#include "bench/report/figures.h"

#include <gtest/gtest.h>

#include <algorithm>

#include "bench/report/looks.h"
#include "bench/report/roofline.h"
#include "bench/report/tables.h"
#include "tests/bench/report/full_record.h"
#include "tests/bench/report/records.h"

namespace stepscope {
namespace {

using test::arm_of;
using test::decided;
using test::full;

ModelRuns all_runs(const Runs& runs) { return by_model(runs).front(); }

const Series* series_of(const Figure& figure, std::string_view name) {
  const auto at = std::find_if(figure.series.begin(), figure.series.end(),
                               [&](const Series& series) { return series.name == name; });
  return at == figure.series.end() ? nullptr : &*at;
}

const FigureGroup* group_of(const std::vector<FigureGroup>& groups, std::string_view id) {
  const auto at = std::find_if(groups.begin(), groups.end(),
                               [&](const FigureGroup& group) { return group.id == id; });
  return at == groups.end() ? nullptr : &*at;
}

bool has_guide(const Figure& figure, std::string_view label) {
  return std::any_of(figure.guides.begin(), figure.guides.end(),
                     [&](const Guide& guide) { return guide.label == label; });
}

TEST(Looks, ToldApartByMoreThanColour) {
  const Look eager = look_of_arm("eager", "on");
  const Look graph = look_of_arm("graph", "on");
  EXPECT_EQ(eager.color, 0);
  EXPECT_EQ(eager.shape, 0);
  EXPECT_NE(eager.shape, graph.shape);
  EXPECT_TRUE(eager.filled);
  EXPECT_EQ(eager.dash, 0);
  EXPECT_FALSE(look_of_arm("eager", "off").filled);
  EXPECT_EQ(look_of_arm("eager", "off").dash, 1);
  EXPECT_EQ(look_of_arm("eager", "-epilogue").dash, 2);
  EXPECT_EQ(look_of_ceiling(0).shape, 6);
}

TEST(TimeFigures, AMarkIsTheMedianBetweenItsQuartiles) {
  const Record record = full();
  const FigureGroup group = time_figures(record, all_runs(record));
  ASSERT_EQ(group.figures.size(), 2U);
  const Figure& figure = group.figures[0];
  EXPECT_EQ(figure.title, "eigen");
  EXPECT_TRUE(figure.x.logarithmic && figure.y.logarithmic);
  EXPECT_EQ(figure.spread, Figure::Spread::band);
  const Series* const eager = series_of(figure, "eager/off");
  ASSERT_NE(eager, nullptr);
  ASSERT_EQ(eager->marks.size(), 2U);
  EXPECT_DOUBLE_EQ(eager->marks[0].x, 1.0);
  EXPECT_DOUBLE_EQ(eager->marks[0].y, 10.0);
  EXPECT_DOUBLE_EQ(*eager->marks[0].low, 9.9);
  EXPECT_DOUBLE_EQ(*eager->marks[0].high, 10.1);
  EXPECT_DOUBLE_EQ(eager->marks[1].y, 100.0);
  EXPECT_EQ(figure.series.size(), 4U) << "the control is no line of its own";
}

TEST(TimeFigures, ABackendThatWasNotMeasuredSaysSo) {
  Record record = full();
  for (ArmRecord& arm : record.arms) {
    if (arm.backend == "stopwatch") arm.throughput_summary = {};
  }
  const FigureGroup group = time_figures(record, all_runs(record));
  ASSERT_EQ(group.figures.size(), 2U);
  EXPECT_EQ(group.figures[0].missing, "");
  EXPECT_EQ(group.figures[1].missing, "not measured: no arm was timed in blocks of steps");
  for (ArmRecord& arm : record.arms) arm.throughput_summary = {};
  EXPECT_TRUE(time_figures(record, all_runs(record)).figures.empty());
}

TEST(TimeFigures, RunsShareALineOnlyOnEqualGround) {
  Record large = decided();
  for (ArmRecord& arm : large.arms) {
    arm.batch *= 64;
    arm.name += "/large";
  }
  std::vector<Record> records{decided(), large};
  FigureGroup group = time_figures(records, all_runs(records));
  EXPECT_EQ(series_of(group.figures[0], "graph/on")->marks.size(), 4U);
  records[1].environment[0].value = "Model Y";
  group = time_figures(records, all_runs(records));
  EXPECT_EQ(series_of(group.figures[0], "graph/on"), nullptr);
  const Series* const second = series_of(group.figures[0], "graph/on, run 2");
  ASSERT_NE(second, nullptr);
  EXPECT_EQ(second->marks.size(), 2U);
  EXPECT_NE(second->look.shape, series_of(group.figures[0], "graph/on, run 1")->look.shape);
  records.push_back(test::trained());  // it has no arms to draw
  records[2].work = records[0].work;
  records[1] = large;
  group = time_figures(records, all_runs(records));
  EXPECT_EQ(series_of(group.figures[0], "graph/on")->marks.size(), 4U);
  records[1] = records[0];  // the same arms twice
  group = time_figures(records, all_runs(records));
  EXPECT_EQ(series_of(group.figures[0], "graph/on, run 2")->marks.size(), 2U);
}

TEST(RatioFigures, ARatioHasItsIntervalAndTheBandOfSame) {
  const Record record = full();
  const std::vector<FigureGroup> groups = ratio_figures(record, all_runs(record));
  const FigureGroup* const graph = group_of(groups, "graph-over-eager");
  ASSERT_NE(graph, nullptr);
  const Figure& figure = graph->figures.front();
  const Series* const series = series_of(figure, "graph/off over eager/off");
  ASSERT_NE(series, nullptr);
  ASSERT_EQ(series->marks.size(), 2U);
  EXPECT_DOUBLE_EQ(series->marks[0].y, 0.9);
  EXPECT_DOUBLE_EQ(*series->marks[0].low, 0.896);
  EXPECT_DOUBLE_EQ(*series->marks[0].high, 0.904);
  EXPECT_TRUE(has_guide(figure, "SAME"));
  EXPECT_TRUE(has_guide(figure, "graph/off: crossover 32"));
  for (const Guide& guide : figure.guides) {
    if (guide.label != "SAME") continue;
    EXPECT_DOUBLE_EQ(guide.at, 1.0 / 1.013);
    EXPECT_DOUBLE_EQ(*guide.to, 1.013);
  }
}

TEST(RatioFigures, AVoidPairHasNoMark) {
  Record record = decided();
  const auto marks = [&] {
    const Runs runs{record};
    const std::vector<FigureGroup> groups = ratio_figures(runs, all_runs(runs));
    return group_of(groups, "graph-over-eager")->figures.at(0).series.at(0).marks.size();
  };
  const std::size_t before = marks();
  test::ratio_of(record, "eigen/graph/off/1", "eigen/eager/off/1").verdict = "void";
  EXPECT_EQ(marks(), before - 1);
}

TEST(RatioFigures, EachQuestionHasItsGroup) {
  Record record = full();
  std::vector<std::string> ids;
  for (const FigureGroup& group : ratio_figures(record, all_runs(record))) ids.push_back(group.id);
  EXPECT_EQ(
      ids, (std::vector<std::string>{"graph-over-eager", "graph-over-planned", "planned-over-eager",
                                     "fused-over-unfused", "between-backends"}));
  record.status = "void";
  EXPECT_TRUE(ratio_figures(record, all_runs(record)).empty());
}

TEST(RatioFigures, WithoutAnIntervalThereIsNoBar) {
  Record record = decided();
  RatioRecord& ratio = test::ratio_of(record, "eigen/graph/off/1", "eigen/eager/off/1");
  ratio.time_ratio->low = ratio.time_ratio->high = {};
  const std::vector<FigureGroup> groups = ratio_figures(record, all_runs(record));
  const Series* const series =
      series_of(group_of(groups, "graph-over-eager")->figures.front(), "graph/off over eager/off");
  EXPECT_FALSE(series->marks[0].low);
  EXPECT_TRUE(series->marks[1].low);
}

TEST(RatioFigures, AnAblationHasASeriesForEachStratum) {
  Record record = decided();
  ArmRecord& all = arm_of(record, "eigen/graph/on/32");
  all.passes = {{.name = "epilogue", .fusion = true, .changed = true, .notes = {}}};
  const ArmRecord without = test::make_arm("eigen", "graph", "-epilogue", 32, 88'000.0);
  PairRecord pair = test::make_pair_record(all, without, "SLOWER");
  pair.ratios.front().stratum = "near";
  pair.ratios.push_back(pair.ratios.front());
  pair.ratios.back().stratum = "far";
  record.pairs.push_back(pair);
  record.arms.push_back(without);
  const FigureGroup group = ablation_figures(record, all_runs(record));
  ASSERT_EQ(group.figures.size(), 1U);
  const Figure& figure = group.figures.front();
  EXPECT_EQ(figure.x.names, (std::vector<std::string>{"epilogue"}));
  ASSERT_EQ(figure.series.size(), 2U);
  EXPECT_EQ(figure.series[0].name, "without the pass over with all, near cores");
  EXPECT_EQ(figure.series[1].name, "without the pass over with all, far cores");
  EXPECT_NE(figure.series[0].look.shape, figure.series[1].look.shape);
}

TEST(WhereFigures, FourTimesStandSideBySide) {
  const Record record = full();
  const FigureGroup group = where_figures(record, all_runs(record));
  ASSERT_EQ(group.figures.size(), 4U) << "two backends, two batches";
  const Figure& figure = group.figures.front();
  EXPECT_EQ(figure.title, "eigen, batch 1");
  ASSERT_EQ(figure.x.names.front(), "eager/off");
  EXPECT_DOUBLE_EQ(series_of(figure, "dispatch alone")->marks[0].y, 0.85);
  EXPECT_DOUBLE_EQ(series_of(figure, "input copy")->marks[0].y, 0.5);
  EXPECT_DOUBLE_EQ(series_of(figure, "step, latency")->marks[0].y, 10.0);
  EXPECT_DOUBLE_EQ(series_of(figure, "step, throughput")->marks[0].y, 10.0);
}

TEST(CountFigures, SubmissionsCallsAndOps) {
  const Record record = full();
  const Figure submissions = submission_figures(record, all_runs(record)).figures.front();
  EXPECT_EQ(submissions.x.names, (std::vector<std::string>{"eager", "graph", "planned"}));
  EXPECT_DOUBLE_EQ(series_of(submissions, "unfused")->marks[0].y, 17.0);
  EXPECT_DOUBLE_EQ(series_of(submissions, "unfused")->marks[1].y, 1.0);
  // Names have no order and no trend: all of them, and counts are whole.
  EXPECT_NE(submissions.alt.find("unfused: 17 at eager, 1 at graph, 17 at planned"),
            std::string::npos)
      << submissions.alt;
  const Figure phases = phase_figures(record, all_runs(record)).figures.front();
  EXPECT_EQ(phases.x.names, (std::vector<std::string>{"unfused", "all passes"}));
  EXPECT_DOUBLE_EQ(series_of(phases, "forward")->marks[0].y, 9.0);
  EXPECT_DOUBLE_EQ(series_of(phases, "forward")->marks[1].y, 6.0);
  const Figure passes = pass_figures(record, all_runs(record)).figures.front();
  EXPECT_EQ(passes.x.names, (std::vector<std::string>{"simplify", "epilogue"}));
  EXPECT_DOUBLE_EQ(series_of(passes, "ops after")->marks[1].y, 14.0);
}

TEST(Roofline, StepsStandBelowTheCeilings) {
  const Record record = full();
  const FigureGroup group = roofline_figures(record, all_runs(record));
  ASSERT_EQ(group.figures.size(), 2U);
  const Figure& figure = group.figures.front();
  const Series* const eager = series_of(figure, "eager/off");
  ASSERT_NE(eager, nullptr);
  // Batch 32: 12.8 Mflop in 100 us, 1.44 MB.
  EXPECT_DOUBLE_EQ(eager->marks[1].y, 128.0);
  EXPECT_DOUBLE_EQ(eager->marks[1].x, 12.8e6 / 1.44e6);
  EXPECT_TRUE(has_guide(figure, "arithmetic: 166 GFLOP/s"));
  const Series* const memory = series_of(figure, "memory: 13.9 GB/s");
  ASSERT_NE(memory, nullptr);
  for (const Mark& mark : memory->marks) EXPECT_DOUBLE_EQ(mark.y, 13.9 * mark.x);
  EXPECT_LE(memory->marks.back().y, 166.0 + 1e-9);
}

// Another processor has other ceilings: no mark stands under those of another run.
TEST(Roofline, RunsOfTwoMachinesHaveAFigureEach) {
  std::vector<Record> records{full(), full()};
  records[1].environment[0].value = "Model Y";
  records[1].calibration.back().value = 300.0;
  records[1].calibration.back().high = 320.0;
  for (ArmRecord& arm : records[1].arms) arm.threads = 2;
  const auto drawn = [&] { return roofline_figures(records, all_runs(records)); };
  FigureGroup group = drawn();
  ASSERT_EQ(group.figures.size(), 4U);
  EXPECT_EQ(group.figures[0].title, "eigen, run 1");
  EXPECT_TRUE(has_guide(group.figures[0], "arithmetic: 166 GFLOP/s"));
  EXPECT_EQ(group.figures[2].title, "eigen, run 2");
  EXPECT_TRUE(has_guide(group.figures[2], "arithmetic: 640 GFLOP/s"));
  EXPECT_NE(group.how.find("the cores of a run can do"), std::string::npos) << group.how;
  records[1].calibration.clear();
  group = drawn();
  EXPECT_TRUE(group.figures[2].guides.empty());
  EXPECT_NE(group.how.find("run 2 did not calibrate, and has none"), std::string::npos)
      << group.how;
}

// A record that was made before bounds were kept: the calibration tells, unless a step beat it.
TEST(Roofline, TheShareOfThePeakIsThatOfTheBound) {
  Record record = full();
  ArmRecord& arm = arm_of(record, "eigen/eager/off/32");
  const auto share = [&] { return roofline_table(record).rows()[4][8].text; };
  EXPECT_EQ(roofline_table(record).columns()[8].key, "of_peak");
  EXPECT_EQ(share(), "77.1 %");  // 77.1 us of 100 us
  arm.utilization = {};
  arm.throughput_summary.min_ns = 90'000.0;
  EXPECT_EQ(share(), "77.1 %");  // 128 of 166 GFLOP/s
  arm.throughput_summary.min_ns = 70'000.0;
  EXPECT_EQ(share(), "not measured") << "a step was faster than the peak allows";
  arm.utilization.reason = "no bound";
  arm.throughput_summary.min_ns = 90'000.0;
  EXPECT_EQ(share(), "not measured");
}

TEST(Roofline, ABestRowCountsWhereItIsTheHighest) {
  Record record;
  record.calibration = {{"fma_peak", "GFLOP/s", 160.0, 157.0, 166.0, 9, "", ""},
                        {"fma_peak_best", "GFLOP/s", 171.0, {}, {}, 20, "", ""},
                        {"bandwidth_best_l1", "GB/s", 200.0, {}, {}, 20, "", ""},
                        {"bandwidth_read_l1", "GB/s", 190.0, 180.0, 210.0, 20, "", ""}};
  const Ceilings ceilings = ceilings_of(record);
  EXPECT_DOUBLE_EQ(*ceilings.gflops, 171.0);
  ASSERT_EQ(ceilings.bandwidths.size(), 1U);
  EXPECT_DOUBLE_EQ(ceilings.bandwidths[0].gb_per_s, 210.0);
  EXPECT_FALSE(ceilings_of(Record()).gflops);
}

TEST(Roofline, WithoutCalibrationThereAreMarksAlone) {
  Record record = full();
  record.calibration.clear();
  const FigureGroup group = roofline_figures(record, all_runs(record));
  EXPECT_NE(group.how.find("Ceilings: not measured"), std::string::npos) << group.how;
  EXPECT_TRUE(group.figures.front().guides.empty());
}

}  // namespace
}  // namespace stepscope
