// JudgedProgram: a random program together with what is known of its results.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <map>
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

struct JudgedProgram {
  RandomProgram program;
  std::vector<ExpectedStep> steps;
  std::uint64_t attempts = 1;  // programs made until one could be judged
};

// Contents::dyadic: programs in which every op of every step is exact in f32; every bound is zero.
// Contents::real: programs that meet no kink.
JudgedProgram make_judged(Contents contents, std::uint64_t seed);

// The bits of everything that can be seen, after each step.
using Observed = std::vector<std::map<std::string, std::vector<std::byte>>>;

// The graph that is executed: with_passes decides.
Graph executed_graph(const RandomProgram& program);

// Compiles and runs the program, and reconciles counters, log and addresses with it.
Observed run_program(Backend& backend, const JudgedProgram& judged, Mode mode);

// The first observation off its bound; empty when there is none.
std::string first_violation(const JudgedProgram& judged, const Observed& observed);
// The first value of which two runs have different bits.
std::string first_difference(const Observed& a, const Observed& b);

}  // namespace stepscope::test
