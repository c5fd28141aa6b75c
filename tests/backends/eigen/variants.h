// The eigen backend in every variant that this machine can run: instruction set and thread count.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

#include "backends/eigen/eigen.h"

namespace stepscope::eigen {

using cpu::best_isa;
using cpu::can_run;
using cpu::Isa;

struct Variant {
  Isa isa;
  int threads;
};
std::string variant_name(const Variant& variant);  // v3_2threads

inline constexpr Isa kAllIsas[] = {Isa::v2, Isa::v3, Isa::v4};

// All three instruction sets with 1 and 2 threads, whether they can run or not.
std::vector<Variant> all_variants();

// Made on first use and kept. Requires: can_run(variant.isa).
Backend& backend_of(const Variant& variant);

// The one-threaded backends of the instruction sets that can run, lowest first.
std::vector<Variant> runnable_isas();

}  // namespace stepscope::eigen

// Skips a test of a variant that this machine cannot run.
#define STEPSCOPE_SKIP_UNLESS_RUNS(variant) \
  if (!can_run((variant).isa))              \
  GTEST_SKIP() << "this machine cannot run " << cpu::name((variant).isa)
