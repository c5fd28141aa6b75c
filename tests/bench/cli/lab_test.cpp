// stepscope lab: times single batches, works out a stream, and makes a data set that train takes;
// what train saved both commands start from.
// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <initializer_list>
#include <nlohmann/json.hpp>
#include <vector>

#include "bench/cli/lab_model.h"
#include "bench/cli/lab_run.h"
#include "bench/files/files.h"
#include "bench/record/json.h"
#include "tests/bench/cli/run_command.h"
#include "tests/bench/temp_folder.h"

namespace stepscope {
namespace {

using nlohmann::json;
using test::CommandResult;
using test::run_stepscope;

bool has(const std::string& text, std::string_view part) {
  return text.find(part) != std::string::npos;
}

// The report of a run of the lab in a folder of its own.
json report_of(std::vector<std::string> arguments, CommandResult* result = nullptr) {
  const test::TempFolder folder;
  const std::string file = (folder.path() / "measure_report.json").string();
  arguments.insert(arguments.begin(), {"lab", "--quiet", "--out", folder.path().string()});
  const CommandResult ran = run_stepscope(arguments);
  EXPECT_EQ(ran.status, 0) << ran.err;
  if (result != nullptr) *result = ran;
  return json::parse(read_file(file));
}

TEST(Lab, R_STA_2_TheDefaultsAreThoseOfTheCpuLaboratory) {
  const json report = report_of({});
  EXPECT_EQ(report["preset"], "lab-cpu");
  EXPECT_EQ(report["status"], "complete");
  EXPECT_EQ(report["device"], "cpu");
  EXPECT_EQ(report["warmup"], 3);
  EXPECT_EQ(report["repeat"], 10);
  EXPECT_EQ(report["batch_size"], 32);
  EXPECT_EQ(report["seed"], 20261020);
  EXPECT_EQ(report["rate"], 0.01);
  EXPECT_EQ(report["dtype"], "f32");
  EXPECT_TRUE(has(report["data"], "generated")) << report["data"];
}

TEST(Lab, R_PHA_1_DataStepAndTotalAreListsAndTheRestIsNamed) {
  CommandResult result;
  const json report = report_of({"--backend", "reference", "--batch", "4"}, &result);
  EXPECT_EQ(report["scope"], "pipeline");
  EXPECT_TRUE(has(report["shuffle"], "outside")) << report["shuffle"];
  for (const char* list : {"data_ms", "step_ms", "total_ms", "residual_ms"}) {
    ASSERT_EQ(report[list].size(), 10U) << list;
  }
  for (std::size_t i = 0; i < 10; ++i) {
    const double data = report["data_ms"][i], step = report["step_ms"][i];
    const double total = report["total_ms"][i], residual = report["residual_ms"][i];
    EXPECT_NEAR(residual, total - data - step, 1e-9);
    for (const double ms : {data, step, residual}) EXPECT_GE(ms, 0.0);
  }
  for (const char* name : {"data", "step", "total", "residual"}) {
    const double median = report["median"][name];
    EXPECT_LE(report["min"][name], report["q1"][name]);
    EXPECT_LE(report["q1"][name], median);
    EXPECT_LE(median, report["q3"][name]);
    EXPECT_LE(report["q3"][name], report["max"][name]);
  }
  EXPECT_TRUE(has(report["quartile_method"], "type 7"));
  EXPECT_TRUE(has(result.out, "residual")) << result.out;
}

TEST(Lab, TheMedianIsThatOfTheList) {
  cli::LabPreset preset = cli::lab_preset("gpu-plan");
  EXPECT_EQ(preset.warmup, 10);
  EXPECT_EQ(preset.repeat, 30);
  LabList list{.ms = {2.1, 2.0, 2.4, 2.0, 9.3}};
  cli::summarize(list);
  EXPECT_DOUBLE_EQ(list.median, 2.1);
  EXPECT_DOUBLE_EQ(list.q1, 2.0);
  EXPECT_DOUBLE_EQ(list.q3, 2.4);
  EXPECT_DOUBLE_EQ(list.min, 2.0);
  EXPECT_DOUBLE_EQ(list.max, 9.3);
}

TEST(Lab, TheFolderHoldsTheRecordAndAReportBesideTheLists) {
  const test::TempFolder folder;
  const std::filesystem::path out = folder.path() / "out";
  const CommandResult ran = run_stepscope(
      {"lab", "--backend", "reference", "--batch", "4", "--seed", "5", "--out", out.string()});
  ASSERT_EQ(ran.status, 0) << ran.err;
  EXPECT_TRUE(has(ran.err, "record: " + (out / "record.json").string() + "\n")) << ran.err;
  const json report = json::parse(read_file(out / "measure_report.json"));
  const Record record = record_from_json(read_file(out / "record.json"), "record.json");
  EXPECT_EQ(record.status, "exploratory");
  EXPECT_EQ(record.work.seed, 5U);
  ASSERT_EQ(record.arms.size(), 1U);
  const ArmRecord& arm = record.arms[0];
  EXPECT_EQ(arm.name, "reference/eager/off/4");
  EXPECT_EQ(arm.mode_executed, "eager");
  EXPECT_EQ(arm.scope, "pipeline");
  ASSERT_EQ(arm.latency.at(0).elapsed_ns.size(), 10U);
  for (std::size_t i = 0; i < 10; ++i) {
    const double total = report["total_ms"][i];
    EXPECT_NEAR(static_cast<double>(arm.latency[0].elapsed_ns[i]), 1e6 * total, 0.5);
  }
  EXPECT_EQ(arm.warmup.at(0).elapsed_ns.size(), 3U);
  ASSERT_EQ(record.summary.size(), 2U);
  EXPECT_TRUE(record.summary[0].starts_with("A batch of 4 takes ")) << record.summary[0];
  EXPECT_TRUE(has(read_file(out / "report.html"), record.summary[0]));
  EXPECT_TRUE(std::filesystem::exists(out / "report.md"));
  EXPECT_TRUE(std::filesystem::exists(out / "tables" / "columns.csv"));
}

TEST(Lab, TheRecordAloneOnStandardOutput) {
  const CommandResult ran =
      run_stepscope({"lab", "--backend", "reference", "--batch", "4", "--json", "-"});
  ASSERT_EQ(ran.status, 0) << ran.err;
  EXPECT_EQ(ran.err, "");
  EXPECT_EQ(record_from_json(ran.out, "out").arms.size(), 1U);
  EXPECT_FALSE(std::filesystem::exists("measure_report.json"));
}

// The report of a plan as it is, whatever backends this build has.
TEST(Lab, R_ENV_4_APlanWithoutADeviceHasNoNumbers) {
  const LabReport plan{.status = "not-run",
                       .status_reason = "no device",
                       .preset = "gpu-plan",
                       .device = "gpu",
                       .backend = "cuda",
                       .batch_size = 32,
                       .warmup = 10,
                       .repeat = 30};
  const json report = json::parse(lab_json(plan));
  EXPECT_EQ(report["status"], "not-run");
  EXPECT_EQ(report["status_reason"], "no device");
  EXPECT_EQ(report["warmup"], 10);
  EXPECT_EQ(report["repeat"], 30);
  for (const char* list : {"data_ms", "step_ms", "total_ms", "residual_ms"}) {
    EXPECT_TRUE(report[list].is_null()) << list;
  }
  for (const char* value : {"median", "min", "max", "q1", "q3"}) {
    for (const char* name : {"data", "step", "total", "residual"}) {
      EXPECT_TRUE(report[value].contains(name));
      EXPECT_TRUE(report[value][name].is_null()) << value << " of " << name;
    }
  }
  if (!has(STEPSCOPE_BACKEND_NAMES, "cuda")) {
    const json run = report_of({"--preset", "gpu-plan"});
    EXPECT_EQ(run["status"], "not-run");
    EXPECT_EQ(run["status_reason"], "backend cuda is not part of this build");
    EXPECT_TRUE(run["step_ms"].is_null());
    EXPECT_TRUE(run["median"]["step"].is_null());
  }
  const std::string text = lab_text(plan);
  EXPECT_TRUE(has(text, "status: not-run: no device\n")) << text;
  EXPECT_FALSE(has(text, " us")) << text;
  EXPECT_FALSE(has(text, " ns")) << text;
}

TEST(Lab, R_SYN_5_BothSynchronisationsStandSideBySide) {
  const std::string text = cli::synchronisation_text();
  EXPECT_TRUE(has(text,
                  "correct: sync, stamp, work, sync, stamp  when the call returns   2.4 ms    "
                  "0 ms\n"))
      << text;
  EXPECT_TRUE(has(text,
                  "FAULTY: sync, stamp, work, stamp, sync   when the call returns   0.3 ms  "
                  "2.1 ms\n"))
      << text;
  EXPECT_TRUE(has(text, "when the call begins    2.1 ms    0 ms\n")) << text;
  EXPECT_TRUE(has(text, "when the call begins    0.3 ms  1.8 ms\n")) << text;
  CommandResult result;
  report_of({"--backend", "reference", "--batch", "1"}, &result);
  EXPECT_TRUE(has(result.out, text)) << result.out;
}

TEST(Lab, WorksOutAStream) {
  const CommandResult result = run_stepscope(
      {"lab", "--fifo", "--launch", "0,2,3,10", "--device", "5,4,8,2", "--stop", "9"});
  EXPECT_EQ(result.status, 0) << result.err;
  EXPECT_EQ(
      result.out,
      "one stream, in ms; a kernel starts when it was launched and the one before has ended\n"
      "kernel  launch  device  start  completion  queue delay\n"
      "------  ------  ------  -----  ----------  -----------\n"
      "     1       0       5      0           5            0\n"
      "     2       2       4      5           9            3\n"
      "     3       3       8      9          17            6\n"
      "     4      10       2     17          19            7\n"
      "busy 19, idle 0, span 19, active 100.0 %\n"
      "stamps at 0 and 9, without a wait: 9 ms; the last kernel ends at 19: 10 ms are missed\n"
      "1 of 4 launches comes after the second stamp\n");
}

TEST(Lab, AStreamHasGapsWhereItIsStarved) {
  const std::string text =
      cli::fifo_text({.launch = {0, 2, 3, 10}, .device = {1, 1, 1, 1}, .stop = {}});
  EXPECT_TRUE(has(text, "busy 4, idle 7, span 11, active 36.4 %\n")) << text;
  EXPECT_TRUE(has(text,
                  "stamps at 0 and 10, without a wait: 10 ms; the last kernel ends at 11: 1 "
                  "ms are missed\n"))
      << text;
  EXPECT_FALSE(has(text, "launches")) << text;
}

TEST(Lab, AReportThatCannotBeWrittenIsFoundBeforeTheRun) {
  const CommandResult result =
      run_stepscope({"lab", "--report", "/proc/nowhere/report.json", "--backend", "reference"});
  EXPECT_EQ(result.status, 1);
  EXPECT_TRUE(result.out.empty()) << result.out;
  EXPECT_TRUE(has(result.err, "/proc/nowhere")) << result.err;
}

TEST(Lab, MakesDataThatTrainTakesAndWritesOverNothing) {
  const test::TempFolder folder;
  const std::string set = (folder.path() / "set").string();
  const std::string weights = (folder.path() / "w.safetensors").string();
  const CommandResult made = run_stepscope({"lab", "--make-data", set, "--seed", "3"});
  EXPECT_EQ(made.status, 0) << made.err;
  EXPECT_EQ(made.out, set + "/images.npy: generated (seed 3)\n" + set +
                          "/labels.npy: generated (seed 3)\n" + set +
                          "/metadata.csv: generated (seed 3)\n");
  const CommandResult again = run_stepscope({"lab", "--make-data", set});
  EXPECT_EQ(again.status, 1);
  EXPECT_EQ(again.err, "stepscope: " + set +
                           "/images.npy: lies there already, it is left as it is: give another "
                           "folder\n");
  const CommandResult trained = run_stepscope(
      {"train", "--model", "small_cnn", "--data", set, "--epochs", "1", "--steps", "1", "--backend",
       "reference", "--batch", "8", "--quiet", "--save-weights", weights});
  EXPECT_EQ(trained.status, 0) << trained.err;
  EXPECT_NE(trained.out.find("data: " + set + ": generated (seed 3)"), std::string::npos)
      << trained.out;
  const CommandResult other =
      run_stepscope({"compare", "--model", "mlp", "--weights", weights, "--quiet"});
  EXPECT_EQ(other.status, 2);
  EXPECT_EQ(other.err,
            "stepscope: " + weights + ": tensor 'w1' is {8, 1, 3, 3}, 'w1' is {784, 128}\n");
}

}  // namespace
}  // namespace stepscope
