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
#include "tests/bench/temp_folder.h"
#include "tests/support/errors.h"

namespace stepscope {
namespace {

using test::error_of;
using test::TempFolder;

Record sample() {
  Record record;
  record.version = "1.2.3";
  record.command = "stepscope compare --quiet";
  record.created = "2026-01-02T03:04:05Z";
  record.work = {"mlp:4-3-2", "adam", 0.25, "generated", "f32", 18446744073709551615U};
  record.environment = {{"zeta", "1"}, {"alpha", "quote \" and \\"}};
  record.backends = {{"eigen", {{"isa", "x86-64-v3"}}}, {"null", {}}};
  ArmRecord arm;
  arm.backend = "eigen";
  arm.mode_requested = "graph";
  arm.mode_executed = "graph";
  arm.batch = 32;
  arm.counts = {.ops = 17, .submissions = 1, .calls = 17, .library_calls = 5, .own_calls = 12};
  arm.passes = {{.name = "simplify", .changed = true, .ops_before = 18, .ops_after = 17},
                {.name = "fold_sgd", .notes = {"the rate is shared", "not kept"}}};
  arm.slots = {{.round = 1, .position = 2, .wall_ns = {5, 6}, .input_copy_ns = {1, 1}}};
  arm.wall = {2, 5.0, 5.25, 5.5, 5.75, 6.0, 5.5};
  arm.ratios = {{.mode = "planned", .fusion = "off", .medians = 0.5, .q1 = 0.25, .q3 = 1.0}};
  record.arms.push_back(arm);
  arm.dispatch_empty_kernels = TimeSummary{.count = 3, .median_ns = 0.1};
  record.arms.push_back(arm);
  record.gates = {{.backend = "eigen",
                   .baseline_mode = "eager",
                   .mode = "graph",
                   .fusion = "on",
                   .batch = 32,
                   .criterion = "bits",
                   .steps = 20,
                   .detail = "w1 differs"}};
  record.epochs = {{.epoch = 1, .training_loss = 0.5, .steps = 7, .wall_ns = 9}};
  record.notes = {"one", "two"};
  return record;
}

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
  const std::string wrong = error_of([] { epochs_from_json("[{}]", "FILE: epochs"); });
  EXPECT_TRUE(wrong.starts_with("bad input: FILE: epochs: are no epochs of a stepscope-record 3: "))
      << wrong;
}

TEST(RecordJson, GoesThereAndBackWhole) {
  const std::string json = to_json(sample());
  EXPECT_EQ(to_json(record_from_json(json, "here")), json);
  const Record back = record_from_json(json, "here");
  EXPECT_EQ(back.work.seed, 18446744073709551615U);
  EXPECT_EQ(back.arms.at(0).slots.at(0).wall_ns, (std::vector<std::int64_t>{5, 6}));
  EXPECT_FALSE(back.arms.at(0).dispatch_empty_kernels.has_value());
  EXPECT_DOUBLE_EQ(back.arms.at(1).dispatch_empty_kernels->median_ns, 0.1);
  EXPECT_EQ(back.environment, sample().environment);  // in order
  EXPECT_EQ(back.gates.at(0).detail, "w1 differs");
  EXPECT_EQ(back.gates.at(0).fusion, "on");
  EXPECT_EQ(back.gates.at(0).baseline_fusion, "off");
  EXPECT_EQ(back.arms.at(0).passes.at(0).ops_after, 17);
  EXPECT_TRUE(back.arms.at(0).passes.at(0).changed);
  EXPECT_EQ(back.arms.at(0).ratios.at(0).mode, "planned");
  EXPECT_DOUBLE_EQ(back.arms.at(0).ratios.at(0).q1, 0.25);
  EXPECT_EQ(back.arms.at(0).passes.at(1).notes,
            (std::vector<std::string>{"the rate is shared", "not kept"}));
}

TEST(RecordJson, BeginsWithItsSchema) {
  EXPECT_EQ(to_json(sample()).substr(0, 37), "{\n \"schema\": \"stepscope-record 3\",\n \"");
}

TEST(RecordJson, KeepsWhatIsNoNumberAsNull) {
  Record record = sample();
  record.epochs[0].training_loss = std::numeric_limits<double>::quiet_NaN();
  const std::string json = to_json(record);
  EXPECT_NE(json.find("\"training_loss\": null"), std::string::npos);
  EXPECT_TRUE(std::isnan(record_from_json(json, "here").epochs.at(0).training_loss));
}

TEST(RecordJson, RefusesOtherSchemasAndBrokenText) {
  std::string json = to_json(sample());
  json.replace(json.find("record 3"), 8, "record 2");
  EXPECT_EQ(
      error_of([&] { record_from_json(json, "old.json"); }),
      "bad input: old.json: is 'stepscope-record 2', this program reads 'stepscope-record 3'");
  const std::string broken = error_of([&] { record_from_json("{\"schema\": ", "cut.json"); });
  EXPECT_TRUE(broken.starts_with("bad input: cut.json: is no stepscope-record 3: ")) << broken;
  const std::string missing =
      error_of([&] { record_from_json("{\"schema\": \"stepscope-record 3\"}", "thin.json"); });
  EXPECT_NE(missing.find("version"), std::string::npos) << missing;
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
