// The sentinel is the median of five.
// SPDX-License-Identifier: Apache-2.0
#include "bench/measure/sentinel.h"

#include <gtest/gtest.h>

#include <vector>

namespace stepscope {
namespace {

class ScriptedTimer final : public Timer {
 public:
  explicit ScriptedTimer(std::vector<std::int64_t> stamps) : stamps_(std::move(stamps)) {}
  std::int64_t now() override { return stamps_.at(next_++); }
  std::size_t taken() const { return next_; }

 private:
  std::vector<std::int64_t> stamps_;
  std::size_t next_ = 0;
};

TEST(Sentinel, IsTheMedianOfFive) {
  ScriptedTimer timer({0, 90, 100, 105, 200, 280, 300, 310, 400, 470});  // 90, 5, 80, 10, 70
  EXPECT_EQ(run_sentinel(timer), 70);
  EXPECT_EQ(timer.taken(), 10u);
}

TEST(Sentinel, TakesTime) {
  SteadyTimer timer;
  EXPECT_GT(run_sentinel(timer), 0);
}

}  // namespace
}  // namespace stepscope
