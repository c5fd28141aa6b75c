// What stands under the name that is to be written: links, pipes, devices, folders, leftovers.
// SPDX-License-Identifier: Apache-2.0
#include "bench/files/files.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "ops/base/check.h"
#include "ops/base/error.h"
#include "tests/bench/temp_folder.h"

namespace stepscope {
namespace {

namespace fs = std::filesystem;

using test::TempFolder;

template <class Action>
std::string error_of(Action action) {
  try {
    action();
  } catch (const Error& error) {
    return fmt::format("{}: {}", error.fault() == Fault::io ? "io" : "other", error.what());
  }
  return "no error";
}

std::ptrdiff_t files_in(const fs::path& folder) {
  return std::distance(fs::directory_iterator(folder), fs::directory_iterator());
}

TEST(WriteFile, ALinkStaysAndItsTargetIsWritten) {
  const TempFolder folder;
  fs::create_directory(folder.path() / "far");
  const fs::path target = folder.write("far/target", std::string_view("old"));
  fs::create_symlink("far/target", folder.path() / "near");
  fs::create_symlink(folder.path() / "near", folder.path() / "link");
  check_can_be_written(folder.path() / "link");
  write_file(folder.path() / "link", "new");
  EXPECT_TRUE(fs::is_symlink(folder.path() / "link"));
  EXPECT_TRUE(fs::is_symlink(folder.path() / "near"));
  EXPECT_FALSE(fs::is_symlink(target));
  EXPECT_EQ(read_file(target), "new");
  EXPECT_EQ(files_in(folder.path()), 3);
  EXPECT_EQ(files_in(folder.path() / "far"), 1);
}

TEST(WriteFile, ALinkToNothingMakesWhatItNames) {
  const TempFolder folder;
  fs::create_symlink("made/target", folder.path() / "link");
  write_file(folder.path() / "link", "new");
  EXPECT_TRUE(fs::is_symlink(folder.path() / "link"));
  EXPECT_EQ(read_file(folder.path() / "made" / "target"), "new");
}

TEST(WriteFile, LinksInACircleAreRefused) {
  const TempFolder folder;
  const fs::path link = folder.path() / "link";
  fs::create_symlink("link", link);
  const std::string expected =
      "io: " + link.string() + ": cannot be written: Too many levels of symbolic links";
  EXPECT_EQ(error_of([&] { check_can_be_written(link); }), expected);
  EXPECT_EQ(error_of([&] { write_file(link, "x"); }), expected);
}

TEST(WriteFile, APipeIsWrittenAndStays) {
  const TempFolder folder;
  const fs::path pipe = folder.path() / "pipe";
  ASSERT_EQ(::mkfifo(pipe.c_str(), 0600), 0);
  check_can_be_written(pipe);
  // Open for both, so that nobody waits: a pipe holds more than this.
  const int end = ::open(pipe.c_str(), O_RDWR | O_CLOEXEC);
  ASSERT_GE(end, 0);
  write_file(pipe, "through the pipe");
  ASSERT_TRUE(fs::is_fifo(fs::symlink_status(pipe)));
  std::string text(16, ' ');
  EXPECT_EQ(::read(end, text.data(), text.size()), 16);
  EXPECT_EQ(text, "through the pipe");
  ::close(end);
  EXPECT_EQ(files_in(folder.path()), 1);
}

TEST(WriteFile, APipeOfThisProcessIsWrittenByItsDescriptor) {
  int ends[2];
  ASSERT_EQ(::pipe(ends), 0);
  const std::string name = fmt::format("/dev/fd/{}", ends[1]);
  EXPECT_EQ(error_of([&] { check_can_be_written(name); }), "no error");
  EXPECT_EQ(error_of([&] { write_file(name, "text"); }), "no error");
  std::string text(4, ' ');
  ::close(ends[1]);
  EXPECT_EQ(::read(ends[0], text.data(), text.size()), 4);
  EXPECT_EQ(text, "text");
  ::close(ends[0]);
}

TEST(WriteFile, ADeviceStaysOneEvenBehindALink) {
  const TempFolder folder;
  const fs::path link = folder.path() / "link";
  fs::create_symlink("/dev/null", link);
  check_can_be_written(link);
  write_file(link, "x");
  EXPECT_TRUE(fs::is_symlink(link));
  EXPECT_TRUE(fs::is_character_file("/dev/null"));
  fs::remove(link);
  fs::create_symlink("/dev/full", link);
  EXPECT_EQ(error_of([&] { write_file(link, "x"); }),
            "io: " + link.string() + ": cannot be written: No space left on device");
}

TEST(WriteFile, ALeftoverOfThisProcessNumberIsNoObstacle) {
  const TempFolder folder;
  const fs::path path = folder.path() / "record.json";
  folder.write(fmt::format("record.json.{}.tmp", ::getpid()), std::string_view("half"));
  write_file(path, "whole");
  EXPECT_EQ(read_file(path), "whole");
  EXPECT_EQ(files_in(folder.path()), 1);
}

TEST(WriteFile, LeftoversOfDeadProcessesAreRemovedAndNothingElse) {
  const pid_t child = ::fork();
  if (child == 0) ::_exit(0);
  ::waitpid(child, nullptr, 0);
  const TempFolder folder;
  const auto leftover = [&](const std::string& name) {
    return folder.write(name, std::string_view("x"));
  };
  const fs::path dead = leftover(fmt::format("record.json.{}.tmp", child));
  const fs::path alive = leftover(fmt::format("record.json.{}.tmp", ::getppid()));
  const fs::path other = leftover(fmt::format("other.json.{}.tmp", child));
  const fs::path no_number = leftover("record.json.x.tmp");
  write_file(folder.path() / "record.json", "x");
  EXPECT_FALSE(fs::exists(dead));
  EXPECT_TRUE(fs::exists(alive));
  EXPECT_TRUE(fs::exists(other));
  EXPECT_TRUE(fs::exists(no_number));
}

TEST(WriteFiles, WritesAll) {
  const TempFolder folder;
  const fs::path a = folder.path() / "out" / "a", b = folder.path() / "out" / "in" / "b";
  const std::vector<FileContent> files{{a, "first"}, {b, "second"}};
  write_files(files);
  EXPECT_EQ(read_file(a), "first");
  EXPECT_EQ(read_file(b), "second");
  EXPECT_EQ(files_in(a.parent_path()), 2);
  write_files(std::span(files).first(0));
}

// The last cannot be written: what was there stays as it was, and nothing new is there.
TEST(WriteFiles, OrNone) {
  const TempFolder folder;
  const fs::path old = folder.write("old", std::string_view("as it was"));
  fs::create_directories(folder.path() / "taken");
  const std::vector<FileContent> files{{old, "new"},
                                       {folder.path() / "out" / "in" / "a", "x"},
                                       {folder.path() / "out" / "b", "x"},
                                       {folder.path() / "taken", "x"}};
  EXPECT_EQ(error_of([&] { write_files(files); }),
            "io: " + (folder.path() / "taken").string() + ": cannot be written: Is a directory");
  EXPECT_EQ(read_file(old), "as it was");
  EXPECT_EQ(files_in(folder.path()), 2);  // old, taken
}

}  // namespace
}  // namespace stepscope
