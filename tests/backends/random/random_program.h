// Random training steps: forward ops with fan-out and views, images, rows by index, casts; a loss,
// its gradients, chains of updates, readers of what was updated, several kept values. The same seed
// gives the same program everywhere.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "graph/passes/fusion.h"
#include "ops/ir/graph.h"

namespace stepscope::test {

enum class Contents {
  dyadic,  // small multiples of powers of two, and ops that stay among them: no rounding at all
  real,    // any f32 numbers, every op
};

// One element, less than a vector, a vector and a remainder, one cache line of floats and one more.
inline constexpr std::array<std::int64_t, 7> kDims = {1, 2, 3, 7, 17, 64, 65};

struct RandomProgram {
  std::uint64_t seed = 0;
  Contents contents = Contents::dyadic;
  Graph graph;               // verified
  bool with_passes = false;  // run the standard passes before execution, where it is not fused
  FusionChoice fusion;       // how it is fused, where it is
  // Of inputs that are whole numbers, by name: they lie in [0, bound), but for labels of
  // rows that are left out.
  std::map<std::string, std::int64_t> bounds;
};

// `attempt` tells programs of one seed apart: the next one is made when one cannot be judged.
RandomProgram make_program(Contents contents, std::uint64_t seed, std::uint64_t attempt);

// A third of the programs: some of their labels are -1, but never all.
bool leaves_rows_out(const RandomProgram& program);

// What a declared value holds when step `step` begins: inputs anew for each step, the others before
// the first.
std::vector<double> elements_of(const RandomProgram& program, ValueId id, std::uint64_t step);

// Seed, contents and text, for whoever has to repeat a failure.
std::string describe(const RandomProgram& program);

}  // namespace stepscope::test
