// Programs that are run with a text.
// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>
#include <stdlib.h>

#include "bench/report/gnuplot_process.h"
#include "bench/report/picture.h"
#include "tests/bench/temp_folder.h"

namespace stepscope {
namespace {

constexpr int kLong = 60'000;

TEST(Process, GetsTheInputAndReturnsBothStreams) {
  const ProcessResult result =
      run_process({"/bin/sh", "-c", "cat; echo problem >&2; exit 3"}, "some text", kLong);
  EXPECT_EQ(result.status, 3);
  EXPECT_FALSE(result.succeeded());
  EXPECT_EQ(result.out, "some text");
  EXPECT_EQ(result.err, "problem\n");
}

TEST(Process, AnInputThatNobodyReadsAndALongOutputBlockNobody) {
  const std::string input(1 << 20, 'x');
  EXPECT_TRUE(run_process({"/bin/true"}, input, kLong).succeeded());
  EXPECT_EQ(run_process({"/bin/cat"}, input, kLong).out, input);
}

TEST(Process, IsKilledWhenItTakesTooLong) {
  const ProcessResult result = run_process({"/bin/sleep", "1000"}, "", 1);
  EXPECT_TRUE(result.timed_out);
  EXPECT_NE(result.signal, 0);
  EXPECT_FALSE(result.succeeded());
}

TEST(Process, ArgumentsAreNoShellText) {
  EXPECT_EQ(run_process({"/bin/echo", "$(id) `id`; id"}, "", kLong).out, "$(id) `id`; id\n");
}

TEST(Process, WhatCannotStartSaysWhy) {
  const ProcessResult result = run_process({"/nowhere/at/all"}, "", kLong);
  EXPECT_EQ(result.status, -1);
  EXPECT_EQ(result.err, "No such file or directory");
}

class SearchPath {
 public:
  explicit SearchPath(const std::string& path) : before_(getenv("PATH")) {
    setenv("PATH", path.c_str(), 1);
  }
  ~SearchPath() { setenv("PATH", before_.c_str(), 1); }
  SearchPath(const SearchPath&) = delete;
  SearchPath& operator=(const SearchPath&) = delete;

 private:
  std::string before_;
};

void write_program(const test::TempFolder& folder, const std::string& text) {
  const auto file = folder.write("gnuplot", "#!/bin/sh\n" + text + "\n");
  std::filesystem::permissions(file, std::filesystem::perms::owner_all);
}

TEST(FindGnuplot, SaysWhyThereIsNone) {
  const test::TempFolder folder;
  const SearchPath path(folder.path().string());
  EXPECT_EQ(find_gnuplot().program, "");
  EXPECT_EQ(find_gnuplot().reason, "gnuplot is not installed (Debian: gnuplot-nox)");
  folder.write("gnuplot", "not executable");
  EXPECT_EQ(find_gnuplot().reason, "gnuplot is not installed (Debian: gnuplot-nox)");
  const std::string file = (folder.path() / "gnuplot").string();
  write_program(folder, "echo no license >&2; exit 1");
  EXPECT_EQ(find_gnuplot().reason, file + " does not run: no license");
  write_program(folder, "echo 5.2 1");
  EXPECT_EQ(find_gnuplot().reason, file + " is version 5.2, older than 5.4");
  write_program(folder, "echo 5.4 0");
  EXPECT_EQ(find_gnuplot().reason, file + " draws no SVG");
  write_program(folder, "echo 6.0 17");
  EXPECT_EQ(find_gnuplot().program, file);
  EXPECT_EQ(find_gnuplot().version, "6.0");
}

TEST(FindGnuplot, NeverTakesOneFromTheWorkingFolder) {
  const SearchPath path(":.:relative");
  EXPECT_EQ(find_program("gnuplot"), "");
}

}  // namespace
}  // namespace stepscope
