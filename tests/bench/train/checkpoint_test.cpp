// A checkpoint comes back as it was, or not at all with one message.
// SPDX-License-Identifier: Apache-2.0
#include "bench/train/checkpoint.h"

#include <gtest/gtest.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmath>

#include "bench/files/files.h"
#include "bench/files/safetensors.h"
#include "bench/measure/facts_hash.h"
#include "tests/bench/temp_folder.h"
#include "tests/support/errors.h"

namespace stepscope {
namespace {

using test::error_of;
using test::TempFolder;

Checkpoint sample() {
  const float weights[] = {1.0F, -0.0F, std::nanf(""), 5e-45F};
  return {.epoch = 1,
          .batches = 2,
          .steps = 6,
          .seed = 18446744073709551615U,
          .loss_sum = 0.1 + 0.2,
          .losses = 2,
          .unfinished = {.samples_seen = 24, .data_ns = 5},
          .epochs = {{.epoch = 1, .training_loss = 1.0 / 3.0, .samples_seen = 40}},
          .work = {{"model", "mlp:2-2"}, {"batch", "12"}},
          .conditions = {{"backend", "eigen"}},
          .notes = {"first", "second"},
          .tensors = {make_tensor("w1", {2, 2}, weights)}};
}

TEST(CheckpointFile, ComesBackAsItWas) {
  const TempFolder folder;
  const auto path = folder.path() / "a" / "c.safetensors";
  const Checkpoint before = sample();
  write_checkpoint(path, before);
  const Checkpoint after = read_checkpoint(path);
  EXPECT_EQ(after.epoch, 1);
  EXPECT_EQ(after.batches, 2);
  EXPECT_EQ(after.steps, 6);
  EXPECT_EQ(after.seed, before.seed);
  EXPECT_EQ(after.loss_sum, 0.1 + 0.2);
  EXPECT_EQ(after.losses, 2);
  EXPECT_EQ(after.unfinished.samples_seen, 24);
  EXPECT_EQ(after.epochs.at(0).training_loss, 1.0 / 3.0);
  EXPECT_TRUE(differences(after.work, before.work).empty());
  EXPECT_EQ(after.conditions, before.conditions);
  EXPECT_EQ(after.notes, before.notes);
  ASSERT_EQ(after.tensors.size(), 1U);
  EXPECT_EQ(after.tensors[0].bytes, before.tensors[0].bytes);
  EXPECT_EQ(read_safetensors(path).metadata.at("loss_sum"), "0x1.3333333333334p-2");
}

TEST(CheckpointFile, NoPartOfItIsReadAsAWhole) {
  const TempFolder folder;
  const auto path = folder.path() / "c";
  write_checkpoint(path, sample());
  const std::string whole = read_file(path);
  for (std::size_t size = 0; size < whole.size(); size += 37) {
    const auto cut = folder.write("cut", std::string_view(whole).substr(0, size));
    const std::string why = error_of([&] { read_checkpoint(cut); });
    EXPECT_TRUE(why.starts_with("bad input: " + cut.string() + ": ")) << why;
  }
}

TEST(CheckpointFile, ABitThatTurnedIsFound) {
  const TempFolder folder;
  const auto path = folder.path() / "c";
  write_checkpoint(path, sample());
  const std::string whole = read_file(path);
  for (std::size_t at = 0; at < whole.size(); at += 11) {
    std::string changed = whole;
    changed[at] = static_cast<char>(changed[at] ^ 1);
    const auto file = folder.write("changed", std::string_view(changed));
    EXPECT_NE(error_of([&] { read_checkpoint(file); }), "no error") << "byte " << at;
  }
}

TEST(CheckpointFile, WhatIsNoCheckpointIsNamed) {
  const TempFolder folder;
  const auto with = [&](const std::map<std::string, std::string>& metadata) {
    const auto path = folder.path() / "other";
    write_file(path, to_safetensors({.tensors = {}, .metadata = metadata}));
    return error_of([&] { read_checkpoint(path); });
  };
  const std::string who = "bad input: " + (folder.path() / "other").string();
  EXPECT_EQ(with({{"by", "others"}}),
            who + ": is a safetensors file but no checkpoint: its metadata name no format");
  EXPECT_EQ(with({{"format", "stepscope-checkpoint 9"}}),
            who + ": is 'stepscope-checkpoint 9', this program reads 'stepscope-checkpoint 1'");
  EXPECT_EQ(with({{"format", "stepscope-checkpoint 1"}}),
            who + ": is no whole checkpoint: it has no 'content_sha256'");
  EXPECT_EQ(
      error_of([&] { read_checkpoint(folder.path() / "none"); }),
      "io: " + (folder.path() / "none").string() + ": cannot be opened: No such file or directory");
}

TEST(CheckpointFile, DifferencesNameBothValues) {
  EXPECT_EQ(
      differences({{"rate", "0.1"}, {"seed", "1"}, {"choices", ""}},
                  {{"seed", "1"}, {"rate", "0.2"}, {"extra", "x"}}),
      (std::vector<std::string>{"extra is none there, x here", "rate is 0.1 there, 0.2 here"}));
  EXPECT_EQ(hash_of({{"a", "1"}, {"b", "2"}}), hash_of({{"b", "2"}, {"a", "1"}}));
  EXPECT_NE(hash_of({{"a", "1"}, {"b", "2"}}), hash_of({{"a", "12"}, {"b", ""}}));
}

TEST(CheckpointFile, WhatDeadProcessesLeftIsRemoved) {
  const TempFolder folder;
  const pid_t child = ::fork();
  if (child == 0) ::_exit(0);
  ::waitpid(child, nullptr, 0);  // nobody has this number now
  const auto write = [&](const std::string& name) {
    return folder.write(name, std::string_view("x"));
  };
  const auto dead = write(fmt::format("c.{}.tmp", child));
  const auto own = write(fmt::format("c.{}.tmp", ::getpid()));
  const auto alive = write(fmt::format("c.{}.tmp", ::getppid()));
  const auto other = write(fmt::format("other.{}.tmp", child));
  const auto no_number = write("c.x.tmp");
  write_checkpoint(folder.path() / "c", sample());
  EXPECT_FALSE(std::filesystem::exists(dead));
  EXPECT_FALSE(std::filesystem::exists(own));
  EXPECT_TRUE(std::filesystem::exists(alive));
  EXPECT_TRUE(std::filesystem::exists(other));
  EXPECT_TRUE(std::filesystem::exists(no_number));
}

TEST(CheckpointFile, APipeIsRefusedSinceItCannotBeReadBack) {
  const TempFolder folder;
  const auto pipe = folder.path() / "pipe";
  ASSERT_EQ(::mkfifo(pipe.c_str(), 0600), 0);
  const std::string expected =
      "io: " + pipe.string() +
      ": cannot be written: it is no regular file, a checkpoint is read back";
  EXPECT_EQ(error_of([&] { check_checkpoint_can_be_written(pipe); }), expected);
  EXPECT_EQ(error_of([&] { write_checkpoint(pipe, sample()); }), expected);
  EXPECT_TRUE(std::filesystem::is_fifo(pipe));
}

TEST(CheckpointFile, PlacesThatCannotBeWrittenAreNamedBeforeARun) {
  const TempFolder folder;
  const auto file = folder.write("file", std::string_view("x"));
  const std::string root = folder.path().string();
  EXPECT_EQ(error_of([&] { check_can_be_written(folder.path()); }),
            "io: " + root + ": cannot be written: Is a directory");
  EXPECT_EQ(error_of([&] { check_can_be_written(file / "c"); }),
            "io: " + root + "/file/c: cannot be written: " + root + "/file is no folder");
  ::chmod(file.c_str(), 0444);
  EXPECT_EQ(error_of([&] { check_can_be_written(file); }),
            "io: " + root + "/file: cannot be written: it is read-only");
  EXPECT_EQ(error_of([&] { check_can_be_written(folder.path() / "new" / "deep" / "c"); }),
            "no error");
  if (::geteuid() != 0) {
    std::filesystem::create_directory(folder.path() / "closed");
    ::chmod((folder.path() / "closed").c_str(), 0555);
    EXPECT_EQ(
        error_of([&] { check_can_be_written(folder.path() / "closed" / "c"); }),
        "io: " + root + "/closed/c: cannot be written: " + root + "/closed: Permission denied");
  }
}

}  // namespace
}  // namespace stepscope
