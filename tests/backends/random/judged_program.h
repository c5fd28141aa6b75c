// JudgedProgram: a random program together with what is known of its results.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <map>
#include <span>
#include <string>
#include <vector>

#include "backends/execution/executor.h"
#include "tests/backends/random/random_program.h"

namespace stepscope::test {

// What can be seen of a program after a step: kept values, parameters, states; by name.
struct Expected {
  std::vector<double> value;
  std::vector<double> bound;  // |computed - value| <= bound, per element
};
using ExpectedStep = std::map<std::string, Expected>;

enum class Variant { unfused, fused };

struct JudgedProgram {
  RandomProgram program;
  std::vector<ExpectedStep> unfused, fused;
  // What the fused graph gives in f64 other than the unfused one; empty: nothing.
  std::string disagreement;
  std::uint64_t attempts = 1;  // programs made until one could be judged

  const std::vector<ExpectedStep>& steps(Variant variant) const {
    return variant == Variant::unfused ? unfused : fused;
  }
};

// Contents::dyadic: programs in which every op of every step is exact in f32; every bound is zero.
// Contents::real: programs that meet no kink. Fused or not: each graph is judged op by op, with
// bounds of its own, since a fused op rounds elsewhere than its parts do (a sum may begin with the
// bias, and SGD that is folded multiplies by the rate earlier).
JudgedProgram make_judged(Contents contents, std::uint64_t seed);

// The bits of everything that can be seen, after each step.
using Observed = std::vector<std::map<std::string, std::vector<std::byte>>>;

// The graph that is executed: unfused, with_passes decides; fused, the chosen passes, in the
// layouts that the chooser wants if there is one.
Graph executed_graph(const RandomProgram& program, Variant variant, const Wishes& wishes = {});

// Compiles the program and runs it in each mode, and reconciles counters, log and addresses with
// it.
std::vector<Observed> run_program(Backend& backend, const JudgedProgram& judged, Variant variant,
                                  std::span<const Mode> modes);

// The first observation off its bound; empty when there is none.
std::string first_violation(const JudgedProgram& judged, Variant variant, const Observed& observed);
// The first value of which two runs have different bits.
std::string first_difference(const Observed& a, const Observed& b);

}  // namespace stepscope::test
