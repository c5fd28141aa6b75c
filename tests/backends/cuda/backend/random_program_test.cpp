// Random programs on the CUDA backend under the simulator, captured and of explicit nodes, fused or
// not: equal to the oracle where nothing rounds, within the error bound where something does, and
// equal bits between modes and devices always.
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

using stepscope::test::Contents;
using stepscope::test::JudgedProgram;
using stepscope::test::Observed;
using stepscope::test::Variant;

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

class ProgramTest : public test::DeviceTest {
 protected:
  // Whether there was something to run.
  bool expect_right(Contents contents, std::uint64_t seed) {
    const std::optional<JudgedProgram> judged = program_of(contents, seed);
    if (!judged) return false;
    Observed first[2];
    for (const Way& way : nth_ways(seed)) {
      begin_anew(way.device);
      try {
        const std::unique_ptr<Backend> backend = make_backend(way);
        for (const Variant variant : {Variant::unfused, Variant::fused}) {
          expect_right(*judged, *backend, way, variant, first[static_cast<int>(variant)]);
        }
      } catch (const Error& error) {
        ADD_FAILURE() << way.name << ": " << error.what() << "\n" << describe(judged->program);
      }
    }
    return true;
  }

 private:
  // `first`: of this variant, whatever the way.
  static void expect_right(const JudgedProgram& judged, Backend& backend, const Way& way,
                           Variant variant, Observed& first) {
    std::vector<Observed> observed = run_program(backend, judged, variant, kModes);
    if (first.empty()) first = observed[0];
    for (std::size_t i = 0; i < kModes.size(); ++i) {
      const std::string violation = first_violation(judged, variant, observed[i]);
      const std::string difference = stepscope::test::first_difference(first, observed[i]);
      if (violation.empty() && difference.empty()) continue;
      ADD_FAILURE() << way.name << ' ' << name(kModes[i])
                    << (variant == Variant::fused ? " fused: " : " unfused: ") << violation << "; "
                    << difference << '\n'
                    << describe(judged.program);
    }
  }
};

class CudaPrograms : public ProgramTest, public testing::WithParamInterface<std::uint64_t> {
 protected:
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

class OneSeed : public ProgramTest {};

TEST_F(OneSeed, FromTheEnvironment) {
  const char* text = std::getenv("STEPSCOPE_RANDOM_SEED");
  const std::uint64_t seed = text != nullptr ? std::strtoull(text, nullptr, 10) : 0;
  for (const Contents contents : {Contents::dyadic, Contents::real}) expect_right(contents, seed);
}

}  // namespace
}  // namespace stepscope::cuda
