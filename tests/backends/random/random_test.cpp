// Random programs in every mode on every backend that computes, unfused and fused: equal to the
// oracle where nothing rounds, within the error bound where something does, and equal bits between
// modes always.
//
// A failure prints its seed N: STEPSCOPE_RANDOM_SEED=N random_test --gtest_filter='OneSeed.*'
// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdlib>

#include "ops/base/error.h"
#include "tests/backends/execution/training.h"
#include "tests/backends/random/judged_program.h"
#include "tests/backends/random/program_count.h"

namespace stepscope {
namespace {

using test::Contents;
using test::JudgedProgram;
using test::kPrograms;
using test::Observed;
using test::Variant;

constexpr std::array kModes = {Mode::eager, Mode::planned, Mode::graph};

constexpr std::uint64_t kShards = 10;

// Against the oracle number by number: a zero may have either sign, since that depends on how a sum
// begins. Between modes bit by bit.
void expect_right(const JudgedProgram& judged, Backend& backend, Variant variant) {
  const auto where = [&](std::size_t mode) {
    return fmt::format("{} {} {}\n{}", backend.name(), name(kModes[mode]),
                       variant == Variant::fused ? "fused" : "unfused", describe(judged.program));
  };
  const std::vector<Observed> observed = run_program(backend, judged, variant, kModes);
  for (std::size_t i = 0; i < kModes.size(); ++i) {
    EXPECT_EQ(first_violation(judged, variant, observed[i]), "") << where(i);
    EXPECT_EQ(test::first_difference(observed[0], observed[i]), "") << where(i);
  }
}

void expect_right(Contents contents, std::uint64_t seed) {
  const JudgedProgram judged = make_judged(contents, seed);
  EXPECT_EQ(judged.disagreement, "") << describe(judged.program);
  for (const std::string& name : test::computing_backends({"small_cnn"})) {
    const auto backend = test::make_backend({name, 1});
    for (const Variant variant : {Variant::unfused, Variant::fused}) {
      try {
        expect_right(judged, *backend, variant);
      } catch (const Error& error) {
        ADD_FAILURE() << name << ": " << error.what() << "\n" << describe(judged.program);
      }
    }
  }
}

class Shard : public testing::TestWithParam<std::uint64_t> {
 protected:
  void run(Contents contents) {
    for (std::uint64_t seed = GetParam(); seed < kPrograms && !HasFailure(); seed += kShards) {
      expect_right(contents, seed);
    }
  }
};

TEST_P(Shard, ExactProgramsAreExact) { run(Contents::dyadic); }
TEST_P(Shard, RealProgramsAreWithinTheirBounds) { run(Contents::real); }
INSTANTIATE_TEST_SUITE_P(Programs, Shard, testing::Range<std::uint64_t>(0, kShards));

TEST(OneSeed, FromTheEnvironment) {
  const char* text = std::getenv("STEPSCOPE_RANDOM_SEED");
  const std::uint64_t seed = text != nullptr ? std::strtoull(text, nullptr, 10) : 0;
  for (const Contents contents : {Contents::dyadic, Contents::real}) expect_right(contents, seed);
}

}  // namespace
}  // namespace stepscope
