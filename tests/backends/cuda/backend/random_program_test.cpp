// Random programs on the CUDA backend under the simulator, captured and of explicit nodes, fused or
// not: equal to the oracle where nothing rounds, within the error bound where something does, and
// equal bits between modes always.
//
// A failure prints its seed N: STEPSCOPE_RANDOM_SEED=N cuda_random_test --gtest_filter='OneSeed*'
// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cstdlib>
#include <optional>

#include "ops/base/error.h"
#include "tests/backends/cuda/backend/ways.h"
#include "tests/backends/random/judged_program.h"

namespace stepscope::cuda {
namespace {

using test::Contents;
using test::JudgedProgram;
using test::Observed;
using test::Variant;

constexpr std::array kModes = {Mode::eager, Mode::planned, Mode::graph};
// Of each kind. Those with images are left out, and one in eight has none.
constexpr std::uint64_t kSeeds = 600;
constexpr std::uint64_t kFewest = 3;  // that run, of a shard
constexpr std::uint64_t kShards = 8;

bool runs_here(const Graph& graph) {
  return std::none_of(graph.ops().begin(), graph.ops().end(),
                      [](const Op& op) { return is_left_out(op.kind); });
}

// One whose parts the backend has; nothing: it has not. Judging costs much, and mostly the first
// attempt is the one that is judged.
std::optional<JudgedProgram> program_of(Contents contents, std::uint64_t seed) {
  if (!runs_here(make_program(contents, seed, 0).graph)) return std::nullopt;
  JudgedProgram judged = make_judged(contents, seed);
  if (!runs_here(judged.program.graph)) return std::nullopt;
  return judged;
}

void expect_right(const JudgedProgram& judged, const Way& way, Variant variant) {
  const auto where = [&](std::size_t mode) {
    return fmt::format("{} {} {}\n{}", way.name, name(kModes[mode]),
                       variant == Variant::fused ? "fused" : "unfused", describe(judged.program));
  };
  const std::unique_ptr<Backend> backend = make_backend(way);
  const std::vector<Observed> observed = run_program(*backend, judged, variant, kModes);
  for (std::size_t i = 0; i < kModes.size(); ++i) {
    EXPECT_EQ(first_violation(judged, variant, observed[i]), "") << where(i);
    EXPECT_EQ(test::first_difference(observed[0], observed[i]), "") << where(i);
  }
}

// Whether there was something to run.
bool expect_right(Contents contents, std::uint64_t seed) {
  const std::optional<JudgedProgram> judged = program_of(contents, seed);
  if (!judged) return false;
  for (const Way& way : kWays) {
    for (const Variant variant : {Variant::unfused, Variant::fused}) {
      try {
        expect_right(*judged, way, variant);
      } catch (const Error& error) {
        ADD_FAILURE() << way.name << ": " << error.what() << "\n" << describe(judged->program);
      }
    }
  }
  return true;
}

class CudaPrograms : public BackendTest, public testing::WithParamInterface<std::uint64_t> {
 protected:
  CudaPrograms() : BackendTest(kNodes) {}
  void run(Contents contents) {
    std::uint64_t ran = 0;
    for (std::uint64_t seed = GetParam(); seed < kSeeds && !HasFailure(); seed += kShards) {
      ran += expect_right(contents, seed) ? 1 : 0;
    }
    EXPECT_GE(ran, HasFailure() ? 0 : kFewest);
  }
};

TEST_P(CudaPrograms, ExactOnesAreExact) { run(Contents::dyadic); }
TEST_P(CudaPrograms, RealOnesAreWithinTheirBounds) { run(Contents::real); }
INSTANTIATE_TEST_SUITE_P(Random, CudaPrograms, testing::Range<std::uint64_t>(0, kShards));

class OneSeed : public BackendTest {
 protected:
  OneSeed() : BackendTest(kNodes) {}
};

TEST_F(OneSeed, FromTheEnvironment) {
  const char* text = std::getenv("STEPSCOPE_RANDOM_SEED");
  const std::uint64_t seed = text != nullptr ? std::strtoull(text, nullptr, 10) : 0;
  for (const Contents contents : {Contents::dyadic, Contents::real}) expect_right(contents, seed);
}

}  // namespace
}  // namespace stepscope::cuda
