// The clock: steady, and no other within reach of measuring code.
// SPDX-License-Identifier: Apache-2.0
#include "bench/measure/clock.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>
#include <string_view>
#include <vector>

#include "bench/measure/timer.h"

namespace stepscope {
namespace {

TEST(Clock, R_CLK_1_NeverGoesBack) {
  Stamp last = now();
  for (int i = 0; i < 100'000; ++i) {
    const Stamp next = now();
    ASSERT_GE(next, last);
    last = next;
  }
}

TEST(Timer, R_CLK_1_TheTimerOfARunIsSteadyAndCountsFromItsConstruction) {
  static_assert(Clock::is_steady);
  const Stamp before = now();
  SteadyTimer timer;
  std::int64_t last = timer.now();
  EXPECT_GE(last, 0);
  for (int i = 0; i < 100'000; ++i) {
    const std::int64_t next = timer.now();
    ASSERT_GE(next, last);
    last = next;
  }
  EXPECT_LE(std::chrono::nanoseconds(last), now() - before);
}

// Clocks that somebody may set, or that may be one of those.
constexpr std::array<std::string_view, 11> kSettable{
    "system_clock",   "high_resolution_clock", "utc_clock",  "tai_clock",     "gettimeofday",
    "CLOCK_REALTIME", "timespec_get(",         "std::time(", "time(nullptr)", "time(NULL)",
    "CLOCK_TAI"};

std::vector<std::string> settable_clocks_in(std::string_view text) {
  std::vector<std::string> found;
  for (const std::string_view clock : kSettable) {
    if (text.find(clock) != std::string_view::npos) found.emplace_back(clock);
  }
  return found;
}

TEST(Clock, R_CLK_1_TheSearchFindsASettableClock) {
  EXPECT_EQ(settable_clocks_in("auto t = std::chrono::system_clock::now();"),
            (std::vector<std::string>{"system_clock"}));
  EXPECT_EQ(settable_clocks_in("long t = time(nullptr);"),
            (std::vector<std::string>{"time(nullptr)"}));
  EXPECT_TRUE(settable_clocks_in("auto t = std::chrono::steady_clock::now();").empty());
}

// Dates of records are read in bench/files, which times nothing.
TEST(Clock, R_CLK_1_MeasuringCodeKnowsNoSettableClock) {
  int files = 0;
  for (const char* folder :
       {"bench/measure", "bench/compare", "bench/suites", "backends", "graph"}) {
    const auto root = std::filesystem::path(STEPSCOPE_SOURCE_DIR) / folder;
    for (const auto& entry : std::filesystem::recursive_directory_iterator(root)) {
      const std::string extension = entry.path().extension().string();
      if (extension != ".h" && extension != ".cpp" && extension != ".cu") continue;
      std::ifstream in(entry.path());
      const std::string text{std::istreambuf_iterator<char>(in), {}};
      EXPECT_EQ(settable_clocks_in(text), std::vector<std::string>{}) << entry.path();
      ++files;
    }
  }
  EXPECT_GT(files, 10);
}

}  // namespace
}  // namespace stepscope
