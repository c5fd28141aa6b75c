// What conformance asks of one op case on one backend, and of the op's gradient rule. These are the
// checks; conformance.h runs all of them, the tests here make each a test of GoogleTest.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

#include "tests/conformance/sites.h"

namespace stepscope::conformance {

enum class Outcome : std::uint8_t { passed, unsupported, failed };
std::string_view name(Outcome outcome);

// What came out of a check.
struct Findings {
  std::string unsupported;            // the backend's reason; empty: it has a kernel
  std::vector<std::string> failures;  // each: what, which element, the numbers
  double share_of_bound = 0.0;        // the largest error, as a share of what is allowed

  Outcome outcome() const;
};

// Value against the oracle in f64, and bit for bit against it in f32 where the op promises that;
// guard bytes and inputs unchanged; counted calls as the kernel says; the same bits in place, at
// other addresses and in each of the three modes. A backend that does not compute (BackendInfo) is
// only asked for damage, counts and modes. Throws what lower() throws, if not unsupported.
Findings check_case(Backend& backend, const OpEntry& op, const OpCase& op_case);

// Zeros, infinities, NaN and ties: outputs as written by hand.
// Requires: the backend computes.
Findings check_special(Backend& backend, const OpEntry& op, const SpecialCase& special);

}  // namespace stepscope::conformance
