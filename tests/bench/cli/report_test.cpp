// stepscope report, seen from outside: what it writes of one record and of several, what it
// compares, and what it says of files that are no records.
// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>

#include "bench/cli/run_text.h"
#include "bench/files/csv.h"
#include "bench/files/files.h"
#include "bench/record/json.h"
#include "bench/report/text.h"
#include "tests/bench/cli/run_command.h"
#include "tests/bench/temp_folder.h"

namespace stepscope {
namespace {

namespace fs = std::filesystem;

using test::CommandResult;
using test::run_stepscope;
using test::TempFolder;

bool has(const std::string& text, std::string_view part) {
  return text.find(part) != std::string::npos;
}

// A real record of a short run; its file.
std::string short_run(const TempFolder& folder, const std::string& name,
                      const std::string& model = "chain:5") {
  std::string file = (folder.path() / name).string();
  const CommandResult ran = run_stepscope({"compare", "--model", model, "--backend", "null",
                                           "--mode", "eager,graph", "--fusion", "off", "--batch",
                                           "1", "--quick", "--budget", "1ms", "--json", file});
  EXPECT_EQ(ran.status, 0) << ran.err;
  return file;
}

Record record_in(const std::string& file) { return record_from_json(read_file(file), file); }

// The same run, as if it had been another one, at another time, with sentinels that took twice as
// long: in their units it was twice as fast.
std::string older_run(const TempFolder& folder, const std::string& name, const std::string& of) {
  Record record = record_in(of);
  record.experiment_id = "0123456789abcdef0123456789abcdef";
  record.created = "2020-01-02T03:04:05Z";
  for (ProcessRecord& process : record.processes) {
    for (std::int64_t& ns : process.sentinel_ns) ns *= 2;
  }
  std::string file = (folder.path() / name).string();
  write_file(file, to_json(record));
  return file;
}

// Two records that may be compared, the first the newer one.
std::pair<std::string, std::string> two_runs(const TempFolder& folder) {
  std::string now = short_run(folder, "now.json");
  Record record = record_in(now);
  record.status = "complete";
  record.status_reason = "";
  record.environment.push_back({"processor", "test", ""});
  std::erase_if(record.environment,
                [](const Fact& fact) { return fact.name == "processor" && fact.value != "test"; });
  write_file(now, to_json(record));
  return {now, older_run(folder, "then.json", now)};
}

TEST(Report, TextIsThatOfTheCommandThatMeasured) {
  const TempFolder folder;
  const std::string file = short_run(folder, "r.json");
  const CommandResult result = run_stepscope({"report", file});
  EXPECT_EQ(result.status, 0);
  EXPECT_EQ(result.err, "");
  EXPECT_EQ(result.out, compare_text(record_in(file)));
}

// What an older version judged, by the rules of this one; what was measured stays as it is.
TEST(Report, JudgesAgainFromTheRawBlocks) {
  const TempFolder folder;
  const std::string file = short_run(folder, "r.json");
  const Record measured = record_in(file);
  Record wrong = measured;
  wrong.pairs.at(1).ratios.at(0).time_ratio->estimate = 7.0;
  wrong.summary = {"Graph is seven times slower."};
  const std::string old = (folder.path() / "old.json").string();
  write_file(old, to_json(wrong));
  const std::string judged = (folder.path() / "judged.json").string();
  const CommandResult result = run_stepscope({"report", old, "--judge", "--json", judged});
  EXPECT_EQ(result.status, 0) << result.err;
  EXPECT_FALSE(has(result.out, "seven times")) << result.out;
  const Record after = record_in(judged);
  EXPECT_EQ(after.pairs.at(1).ratios.at(0).time_ratio->estimate,
            measured.pairs.at(1).ratios.at(0).time_ratio->estimate);
  EXPECT_EQ(after.pairs.at(1).processes, measured.pairs.at(1).processes);
  EXPECT_TRUE(has(after.notes.back(), "judged again from its raw blocks by stepscope "));
  // Twice is once.
  run_stepscope({"report", judged, "--judge", "--json", judged + "2"});
  EXPECT_EQ(record_in(judged + "2").notes.size(), after.notes.size());
}

TEST(Report, WritesAPageMarkdownAndTables) {
  const TempFolder folder;
  const std::string file = short_run(folder, "r.json");
  const fs::path out = folder.path() / "a" / "out";
  const CommandResult result = run_stepscope({"report", file, "--out", out.string()});
  ASSERT_EQ(result.status, 0) << result.err;
  EXPECT_TRUE(
      result.err.starts_with("report: " + out.string() + "/report.html, report.md, tables/*.csv ("))
      << result.err;
  EXPECT_TRUE(has(read_file(out / "report.html"), "chain:5"));
  EXPECT_TRUE(has(read_file(out / "report.md"), "chain:5"));
  EXPECT_FALSE(fs::exists(out / "record.json"));  // the records stay where they are
  // Every table is described, and what is described is there, column by column.
  const CsvTable columns = read_csv(out / "tables" / "columns.csv");
  std::map<std::string, std::size_t> described;
  for (const auto& row : columns.rows) {
    ++described[row[0]];
    EXPECT_FALSE(row[3].empty()) << row[0] << " " << row[2];
  }
  EXPECT_GT(described.size(), 3U);
  for (const auto& [table, count] : described) {
    EXPECT_EQ(read_csv(out / "tables" / (table + ".csv")).columns.size(), count) << table;
  }
  const fs::directory_iterator entries(out / "tables");
  EXPECT_EQ(static_cast<std::size_t>(std::distance(begin(entries), end(entries))),
            described.size() + 1);
}

TEST(Report, ReadsTheFolderThatACommandWroteAndFollowsIt) {
  const TempFolder folder;
  const std::string out = (folder.path() / "run").string();
  const CommandResult ran = run_stepscope({"compare", "--model", "chain:5", "--backend", "null",
                                           "--mode", "eager", "--fusion", "off", "--batch", "1",
                                           "--quick", "--budget", "1ms", "--out", out});
  ASSERT_EQ(ran.status, 0) << ran.err;
  EXPECT_TRUE(has(ran.err, "record: " + out + "/record.json\n")) << ran.err;
  EXPECT_TRUE(has(ran.err, "report: " + out + "/report.html, report.md, tables/*.csv")) << ran.err;
  const std::string again = (folder.path() / "again").string();
  ASSERT_EQ(run_stepscope({"report", out, "--out", again}).status, 0);
  for (const std::string name : {"report.html", "report.md", "tables/columns.csv"}) {
    EXPECT_EQ(read_file(fs::path(out) / name), read_file(fs::path(again) / name)) << name;
  }
}

TEST(Report, FormatsAreChosen) {
  const TempFolder folder;
  const std::string file = short_run(folder, "r.json");
  const fs::path out = folder.path() / "out";
  ASSERT_EQ(run_stepscope({"report", file, "--format", "md,csv", "--out", out.string()}).status, 0);
  EXPECT_TRUE(fs::exists(out / "report.md"));
  EXPECT_TRUE(fs::exists(out / "tables" / "columns.csv"));
  EXPECT_FALSE(fs::exists(out / "report.html"));
}

TEST(Report, OneFormGoesToStandardOutputInPlaceOfTheText) {
  const TempFolder folder;
  const std::string file = short_run(folder, "r.json");
  const fs::path out = folder.path() / "out";
  ASSERT_EQ(run_stepscope({"report", file, "--out", out.string()}).status, 0);
  for (const auto& [form, name] :
       {std::pair("md", "report.md"), std::pair("html", "report.html")}) {
    const CommandResult result = run_stepscope({"report", "--format", form, file});
    EXPECT_EQ(result.status, 0) << result.err;
    EXPECT_EQ(result.err, "");
    EXPECT_EQ(result.out, read_file(out / name)) << form;
  }
}

TEST(Report, QuietSaysNothingOfTheFiles) {
  const TempFolder folder;
  const std::string file = short_run(folder, "r.json");
  const std::string out = (folder.path() / "out").string();
  const CommandResult result = run_stepscope({"report", file, "--quiet", "--out", out});
  EXPECT_EQ(result.status, 0);
  EXPECT_EQ(result.err, "");
  EXPECT_EQ(result.out, compare_text(record_in(file)));
}

TEST(Report, MergesRecordsOfSeveralModels) {
  const TempFolder folder;
  const std::string a = short_run(folder, "a.json"), b = short_run(folder, "b.json", "chain:7");
  const fs::path out = folder.path() / "out";
  const CommandResult result = run_stepscope({"report", a, b, "--out", out.string()});
  ASSERT_EQ(result.status, 0) << result.err;
  const std::size_t first = result.out.find("== " + a + " of ");
  const std::size_t second = result.out.find("== " + b + " of ");
  ASSERT_NE(first, std::string::npos) << result.out;
  ASSERT_NE(second, std::string::npos) << result.out;
  EXPECT_LT(first, second);
  EXPECT_FALSE(has(result.out, " is compared with ")) << result.out;
  for (const std::string name : {"report.html", "report.md"}) {
    const std::string text = read_file(out / name);
    EXPECT_TRUE(has(text, "chain:5") && has(text, "chain:7")) << name;
  }
}

// Whatever the order on the command line: the older one is the base.
TEST(Report, ComparesWhatDidTheSameWork) {
  const TempFolder folder;
  const auto [now, then] = two_runs(folder);
  for (const bool turned : {false, true}) {
    const CommandResult result =
        turned ? run_stepscope({"report", then, now}) : run_stepscope({"report", now, then});
    ASSERT_EQ(result.status, 0) << result.err;
    EXPECT_TRUE(has(result.out, now + " of ")) << result.out;
    EXPECT_TRUE(has(result.out, " is compared with " + then + " of 2020-01-02T03:04:05Z"))
        << result.out;
    EXPECT_FALSE(has(result.out, " is compared with " + now)) << result.out;
    EXPECT_TRUE(has(result.out, "2.000")) << result.out;  // the change
  }
  const fs::path out = folder.path() / "out";
  ASSERT_EQ(run_stepscope({"report", now, then, "--out", out.string()}).status, 0);
  for (const std::string name : {"report.html", "report.md"}) {
    EXPECT_TRUE(has(read_file(out / name), "is compared with")) << name;
  }
}

TEST(Report, ABaselineIsComparedAndNotShown) {
  const TempFolder folder;
  const auto [now, then] = two_runs(folder);
  const CommandResult result = run_stepscope({"report", now, "--baseline", then, "--json", "-"});
  ASSERT_EQ(result.status, 0) << result.err;
  EXPECT_EQ(result.err, "");
  const Record record = record_from_json(result.out, "out");
  EXPECT_EQ(record.experiment_id, record_in(now).experiment_id);
  ASSERT_EQ(record.baseline.size(), 2U);
  for (const BaselineRecord& row : record.baseline) {
    EXPECT_EQ(row.reason, "");
    ASSERT_TRUE(row.change.has_value()) << row.arm;
    EXPECT_NEAR(row.change->estimate, 2.0, 0.01) << row.arm;
    EXPECT_EQ(row.verdict, "UNDECIDED");  // one process
  }
}

// As a glob has it that takes the base along.
TEST(Report, ABaselineIsNotComparedWithItself) {
  const TempFolder folder;
  const auto [now, then] = two_runs(folder);
  const CommandResult both = run_stepscope({"report", now, then, "--baseline", then});
  ASSERT_EQ(both.status, 0) << both.err;
  EXPECT_TRUE(has(both.out, now + " of " + record_in(now).created + " is compared with " + then))
      << both.out;
  EXPECT_TRUE(has(both.out, then + " of 2020-01-02T03:04:05Z is the baseline itself, and compared "
                                   "with nothing\n"))
      << both.out;
  EXPECT_FALSE(has(both.out, "1.000")) << both.out;
  const CommandResult alone = run_stepscope({"report", then, "--baseline", then});
  EXPECT_EQ(alone.status, 2);
  EXPECT_EQ(alone.out, "");
  EXPECT_EQ(alone.err, "stepscope: --baseline " + then + ": is the same run as " + then +
                           ", 0123456789abcdef0123456789abcdef\n");
}

TEST(Report, OneRunIsNotGivenTwice) {
  const TempFolder folder;
  const std::string file = short_run(folder, "r.json");
  fs::copy_file(file, folder.path() / "copy.json");
  const std::string copy = (folder.path() / "copy.json").string();
  const CommandResult result = run_stepscope({"report", file, copy});
  EXPECT_EQ(result.status, 2);
  EXPECT_EQ(result.out, "");
  EXPECT_EQ(result.err, "stepscope: report: " + file + " and " + copy + " are one run, " +
                            record_in(file).experiment_id + "\n");
}

TEST(Report, ShowsTheEpochsOfATraining) {
  const TempFolder folder;
  const std::string file = (folder.path() / "r.json").string();
  const fs::path out = folder.path() / "out";
  const CommandResult ran =
      run_stepscope({"train", "--model", "mlp:784-4-10", "--data", "generated", "--backend",
                     "reference", "--epochs", "2", "--steps", "3", "--json", file});
  ASSERT_EQ(ran.status, 0) << ran.err;
  const CommandResult result = run_stepscope({"report", file, "--out", out.string()});
  ASSERT_EQ(result.status, 0) << result.err;
  const Record record = record_in(file);
  EXPECT_EQ(result.out, cli::record_text(record));
  for (const EpochRecord& epoch : record.epochs) EXPECT_TRUE(has(result.out, epoch_row(epoch)));
  ASSERT_EQ(record.summary.size(), 3U);
  EXPECT_TRUE(record.summary[0].starts_with("After 2 epochs: validation accuracy "))
      << record.summary[0];
  EXPECT_TRUE(has(read_file(out / "report.html"), record.summary[0]));
}

// Its numbers became null; what they were stands in the notes.
TEST(Report, TakesARecordWithNumbersThatAreNone) {
  const TempFolder folder;
  const std::string file = (folder.path() / "r.json").string();
  const CommandResult ran =
      run_stepscope({"train", "--model", "mlp:16-8-4", "--data", "generated", "--backend",
                     "reference", "--lr", "1e30", "--epochs", "1", "--steps", "5", "--json", file});
  ASSERT_EQ(ran.status, 0) << ran.err;
  EXPECT_TRUE(has(read_file(file), "\"training_loss\": null"));
  EXPECT_TRUE(has(read_file(file), "epochs/0/training_loss: null, since it was not a number"));
  const CommandResult result =
      run_stepscope({"report", file, "--out", (folder.path() / "out").string()});
  ASSERT_EQ(result.status, 0) << result.err;
  EXPECT_TRUE(has(result.out, "nan")) << result.out;
}

// Tables that the report before had, and this one has not, do not stay; other files do.
TEST(Report, LeavesNoTableOfAnOlderReport) {
  const TempFolder folder;
  const std::string file = short_run(folder, "r.json");
  const fs::path out = folder.path() / "out", tables = out / "tables";
  ASSERT_EQ(run_stepscope({"report", file, "--out", out.string()}).status, 0);
  folder.write("out/tables/mine.csv", std::string_view("a,b\n1,2\n"));
  folder.write("out/tables/older.csv", std::string_view("x\n1\n"));
  fs::create_directory(tables / "folder.csv");
  fs::create_symlink("mine.csv", tables / "link.csv");
  write_file(tables / "columns.csv", read_file(tables / "columns.csv") +
                                         "older,An older table,x,What it was,ns\r\n"
                                         "columns,This very file,x,What it was,ns\r\n"
                                         "folder,No file,x,What it was,ns\r\n"
                                         "link,A link,x,What it was,ns\r\n"
                                         "../report,Not a table,x,What it was,ns\r\n");
  ASSERT_EQ(run_stepscope({"report", file, "--out", out.string()}).status, 0);
  EXPECT_FALSE(fs::exists(tables / "older.csv"));
  EXPECT_TRUE(fs::exists(tables / "mine.csv"));
  EXPECT_TRUE(fs::exists(tables / "folder.csv"));
  EXPECT_TRUE(fs::exists(tables / "link.csv"));
  EXPECT_TRUE(fs::exists(out / "report.md"));
  EXPECT_FALSE(has(read_file(tables / "columns.csv"), "older"));
}

// What begins as ours does is not ours: a data dictionary, say.
TEST(Report, RemovesNothingByAColumnsFileOfOthers) {
  const TempFolder folder;
  const std::string file = short_run(folder, "r.json");
  const fs::path out = folder.path() / "out", tables = out / "tables";
  for (const std::string_view header :
       {"table,column,type", "table,title,column,meaning,unit,by"}) {
    const auto commas = static_cast<std::size_t>(std::count(header.begin(), header.end(), ','));
    folder.write("out/tables/orders.csv", std::string_view("id\n1\n"));
    folder.write("out/tables/columns.csv", std::string_view(std::string(header) + "\norders" +
                                                            std::string(commas, ',') + "\n"));
    ASSERT_EQ(run_stepscope({"report", file, "--out", out.string()}).status, 0);
    EXPECT_TRUE(fs::exists(tables / "orders.csv")) << header;
  }
}

TEST(Report, WhatCannotBeWrittenIsFoundBeforeAndLeavesNothing) {
  const TempFolder folder;
  const std::string file = short_run(folder, "r.json");
  const std::string out = folder.write("out/tables", std::string_view("a file")).parent_path();
  const CommandResult result = run_stepscope({"report", file, "--out", out});
  EXPECT_EQ(result.status, 1);
  EXPECT_EQ(result.out, "");
  EXPECT_TRUE(has(result.err, out + "/tables/columns.csv: cannot be written")) << result.err;
  EXPECT_FALSE(fs::exists(fs::path(out) / "report.html"));
}

TEST(Report, ARecordIsNotWrittenOver) {
  const TempFolder folder;
  const std::string file = short_run(folder, "r.json");
  const CommandResult result = run_stepscope({"report", file, "--json", file});
  EXPECT_EQ(result.status, 2);
  EXPECT_EQ(result.err, "stepscope: --json and FILE: both name " + file + "\n");
}

TEST(Report, NothingInARecordIsObeyedByATerminal) {
  const TempFolder folder;
  const std::string file = short_run(folder, "r.json");
  Record record = record_in(file);
  record.work.model = "\x1b]0;mine\x07<script>alert(1)</script>";
  record.notes.push_back("one\x1b[2Jtwo");
  write_file(file, to_json(record));
  const fs::path out = folder.path() / "out";
  const CommandResult result = run_stepscope({"report", file, "--out", out.string()});
  ASSERT_EQ(result.status, 0) << result.err;
  EXPECT_FALSE(has(result.out, "\x1b")) << result.out;
  EXPECT_TRUE(has(result.out, "?]0;mine?<script>")) << result.out;
  EXPECT_FALSE(has(read_file(out / "report.html"), "<script>"));
}

TEST(Report, VerdictsHaveColourWhereItIsAskedFor) {
  const TempFolder folder;
  const auto [now, then] = two_runs(folder);
  const CommandResult plain = run_stepscope({"report", now, "--baseline", then});
  EXPECT_FALSE(has(plain.out, "\x1b"));
  EXPECT_TRUE(has(plain.out, "UNDECIDED"));
  const CommandResult colored =
      run_stepscope({"report", now, "--baseline", then, "--color", "always"});
  EXPECT_TRUE(has(colored.out, "\x1b[33mUNDECIDED\x1b[0m")) << colored.out;
}

}  // namespace
}  // namespace stepscope
