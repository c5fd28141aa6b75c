// A record goes to JSON and back whole; files appear whole or not at all.
// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>
#include <sys/resource.h>

#include <cmath>
#include <csignal>
#include <filesystem>
#include <limits>

#include "bench/files/files.h"
#include "bench/record/json.h"
#include "tests/bench/record/sample_record.h"
#include "tests/bench/temp_folder.h"
#include "tests/support/errors.h"

namespace stepscope {
namespace {

using test::error_of;
using test::filled_record;
using test::not_run_record;
using test::TempFolder;

TEST(RecordJson, EpochsComeBackBitForBit) {
  const std::vector<EpochRecord> epochs{
      {.epoch = 1, .training_loss = 1.0 / 3.0, .validation_accuracy = 0.1, .samples_seen = 5},
      {.epoch = 2, .training_loss = 5e-324, .partial_policy = "drop", .loader_workers = 3}};
  const auto back = epochs_from_json(to_json(epochs), "here");
  ASSERT_EQ(back.size(), 2U);
  EXPECT_EQ(back[0].training_loss, 1.0 / 3.0);
  EXPECT_EQ(back[0].validation_accuracy, 0.1);
  EXPECT_EQ(back[1].training_loss, 5e-324);
  EXPECT_FALSE(back[1].validation_accuracy.has_value());
  EXPECT_EQ(back[1].partial_policy, "drop");
  EXPECT_EQ(error_of([] { epochs_from_json("[{}]", "FILE: epochs"); }),
            "bad input: FILE: epochs: are no epochs of a stepscope-record 5: 0/epoch is missing");
}

// Every field has a value of its own, so that one that is lost, or read from another's name, shows.
TEST(RecordJson, GoesThereAndBackWhole) {
  const std::string json = to_json(filled_record());
  EXPECT_EQ(to_json(record_from_json(json, "here")), json);
  EXPECT_EQ(to_json(record_from_json(to_json(Record{}), "here")), to_json(Record{}));
}

TEST(RecordJson, KeepsValuesAndTheirOrder) {
  Record record = filled_record();
  record.work.seed = 18446744073709551615U;
  record.environment = {{"zeta", "quote \" and \\", {}}, {"alpha", std::nullopt, "no such file"}};
  const Record back = record_from_json(to_json(record), "here");
  EXPECT_EQ(back.work.seed, 18446744073709551615U);
  ASSERT_EQ(back.environment.size(), 2U);
  EXPECT_EQ(back.environment[0].name, "zeta");
  EXPECT_EQ(back.environment[0].value, "quote \" and \\");
  EXPECT_EQ(back.environment[1].value, std::nullopt);
  EXPECT_EQ(back.environment[1].text(), "not available: no such file");
  EXPECT_EQ(back.arms.at(1).throughput, record.arms.at(1).throughput);
  EXPECT_EQ(back.pairs.at(1).processes, record.pairs.at(1).processes);
  EXPECT_EQ(back.backends, record.backends);
}

TEST(RecordJson, BeginsWithItsSchema) {
  EXPECT_EQ(to_json(Record{}).substr(0, 37), "{\n \"schema\": \"stepscope-record 5\",\n \"");
}

TEST(RecordJson, ListsOfNumbersStandOnOneLine) {
  Record record;
  record.processes = {{.process = 1, .sentinel_ns = {10, 20, 30}}};
  EXPECT_NE(to_json(record).find("\"sentinel_ns\": [10,20,30]\n"), std::string::npos);
}

TEST(RecordJson, R_ENV_4_WhatWasNotMeasuredIsNull) {
  const std::string json = to_json(not_run_record());
  for (const std::string_view field :
       {"counts_per_step", "latency_summary", "throughput_summary", "first", "steady",
        "process_rss", "kernel_active_fraction", "arith_lower_bound_us", "value"}) {
    EXPECT_NE(json.find(fmt::format("\"{}\": null", field)), std::string::npos) << field;
  }
  EXPECT_EQ(to_json(record_from_json(json, "here")), json);
}

TEST(RecordJson, WhatIsNoNumberIsNullWithAReason) {
  Record record;
  record.notes = {"a note"};
  record.epochs = {{.training_loss = std::numeric_limits<double>::quiet_NaN(),
                    .validation_accuracy = -std::numeric_limits<double>::infinity()}};
  const std::string json = to_json(record);
  EXPECT_NE(json.find("\"training_loss\": null"), std::string::npos);
  const Record back = record_from_json(json, "here");
  EXPECT_TRUE(std::isnan(back.epochs.at(0).training_loss));
  EXPECT_FALSE(back.epochs.at(0).validation_accuracy);
  EXPECT_EQ(back.notes, (std::vector<std::string>{
                            "a note", "epochs/0/training_loss: null, since it was not a number",
                            "epochs/0/validation_accuracy: null, since it was infinite"}));
  EXPECT_EQ(to_json(back), json);  // said once
}

TEST(RecordJson, RefusesOtherSchemasAndBrokenText) {
  std::string json = to_json(Record{});
  json.replace(json.find("record 5"), 8, "record 2");
  EXPECT_EQ(error_of([&] { record_from_json(json, "old.json"); }),
            "bad input: old.json: is 'stepscope-record 2', this program reads 'stepscope-record "
            "5'; measure "
            "anew, or read it with the stepscope that wrote it");
  for (const std::string text : {"{}", "[]", "3", "{\"schema\": 4}", "{\"benchmarks\": []}"}) {
    EXPECT_EQ(error_of([&] { record_from_json(text, "other.json"); }),
              "bad input: other.json: is no stepscope-record 5: it has no schema")
        << text;
  }
  EXPECT_EQ(
      error_of([&] { record_from_json("oops", "text.json"); }),
      "bad input: text.json: is no stepscope-record 5: parse error at line 1, column 1: syntax "
      "error while parsing value - invalid literal; last read: 'o'");
  const std::string broken = error_of([&] { record_from_json("{\"schema\": ", "cut.json"); });
  EXPECT_TRUE(broken.starts_with("bad input: cut.json: is no stepscope-record 5: ")) << broken;
  EXPECT_EQ(
      error_of([&] { record_from_json("{\"schema\": \"stepscope-record 5\"}", "thin.json"); }),
      "bad input: thin.json: is no stepscope-record 5: version is missing");
}

// The text with its first `from` replaced.
std::string with(std::string text, std::string_view from, std::string_view to) {
  text.replace(text.find(from), from.size(), to);
  return text;
}

TEST(RecordJson, ErrorsNameTheirPlace) {
  Record record;
  record.processes = {{}, {.process = 5, .sentinel_ns = {10, 20}}};
  record.pairs = {{.base = "a", .of = "b", .processes = {{.blocks = {TimedBlock{}}}}}};
  const std::string json = to_json(record);
  const auto refusal = [&](std::string_view from, std::string_view to) {
    const std::string whole = error_of([&] { record_from_json(with(json, from, to), "r"); });
    const std::string start = "bad input: r: is no stepscope-record 5: ";
    return whole.starts_with(start) ? whole.substr(start.size()) : whole;
  };
  EXPECT_EQ(refusal("\"process\": 5", "\"process\": 5.5"),
            "processes/1/process wants a whole number");
  EXPECT_EQ(refusal("[10,20]", "[10,true]"), "processes/1/sentinel_ns/1 wants a whole number");
  EXPECT_EQ(refusal("[10,20]", "{}"), "processes/1/sentinel_ns wants a list");
  EXPECT_EQ(refusal("[0,0,0,0,0,0,0]", "[0,0,0,0,0,0]"),
            "pairs/0/processes/0/blocks/0/slots/0 wants a list of 7 numbers");
  EXPECT_EQ(refusal("\"rate\": 0.0", "\"rate\": \"much\""), "work/rate wants a number or null");
  EXPECT_EQ(refusal("\"seed\": 0", "\"seed\": -1"),
            "work/seed wants a whole number, not below zero");
  EXPECT_EQ(refusal("\"version\": \"\"", "\"version\": null"), "version wants a text");
}

TEST(RecordJson, BytesThatAreNoTextAreReplaced) {
  Record record;
  record.command = "stepscope train --data \xff";
  EXPECT_EQ(record_from_json(to_json(record), "here").command,
            "stepscope train --data \xef\xbf\xbd");
}

TEST(WriteFile, MakesFoldersAndLeavesNothingElse) {
  const TempFolder folder;
  const auto path = folder.path() / "a" / "b" / "record.json";
  write_file(path, "first");
  write_file(path, "second");
  EXPECT_EQ(read_file(path), "second");
  const auto entries = std::filesystem::directory_iterator(path.parent_path());
  EXPECT_EQ(std::distance(begin(entries), end(entries)), 1);
}

TEST(WriteFile, SaysWhyItCannotAndKeepsTheOldFile) {
  const TempFolder folder;
  const auto file = folder.write("plain", "text");
  const std::string in_file = error_of([&] { write_file(file / "record.json", "x"); });
  EXPECT_NE(in_file.find("cannot make its folder: "), std::string::npos) << in_file;
  // A folder stands where the file should: the temporary file must be gone afterwards.
  std::filesystem::create_directories(folder.path() / "taken" / "inside");
  const std::string taken = error_of([&] { write_file(folder.path() / "taken", "x"); });
  EXPECT_NE(taken.find("cannot be written: Is a directory"), std::string::npos) << taken;
  const auto entries = std::filesystem::directory_iterator(folder.path());
  EXPECT_EQ(std::distance(begin(entries), end(entries)), 2);  // plain, taken
}

TEST(WriteFile, LeavesNothingWhenTheDiskIsFull) {
  // A file size limit stands for a full disk: writes beyond it fail with EFBIG.
  const TempFolder folder;
  const auto path = folder.path() / "record.json";
  rlimit before{};
  ASSERT_EQ(getrlimit(RLIMIT_FSIZE, &before), 0);
  const rlimit small{4096, before.rlim_max};
  const auto old_handler = std::signal(SIGXFSZ, SIG_IGN);
  ASSERT_EQ(setrlimit(RLIMIT_FSIZE, &small), 0);
  const std::string full = error_of([&] { write_file(path, std::string(10000, 'x')); });
  ASSERT_EQ(setrlimit(RLIMIT_FSIZE, &before), 0);
  std::signal(SIGXFSZ, old_handler);
  EXPECT_EQ(full, "io: " + path.string() + ": cannot be written: File too large");
  EXPECT_TRUE(std::filesystem::is_empty(folder.path()));
}

TEST(ReadFile, ReadsNothingAndALot) {
  const TempFolder folder;
  EXPECT_EQ(read_file(folder.write("empty", std::string_view())), "");
  const std::string large(200'000, 'x');
  EXPECT_EQ(read_file(folder.write("large", std::string_view(large))), large);
}

TEST(ReadFile, SaysWhyItCannot) {
  const TempFolder folder;
  EXPECT_EQ(error_of([&] { read_file(folder.path()); }),
            "io: " + folder.path().string() + ": cannot be read: Is a directory");
  EXPECT_EQ(
      error_of([&] { read_file(folder.path() / "none"); }),
      "io: " + (folder.path() / "none").string() + ": cannot be opened: No such file or directory");
}

}  // namespace
}  // namespace stepscope
