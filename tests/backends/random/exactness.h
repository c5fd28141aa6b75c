// Exactness: whether f32 computes an op without any rounding, whatever the order of its sums and
// whether or not it fuses products into them.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "tests/backends/random/oracle.h"

namespace stepscope::test {

// Of an op that the oracle has just run, from the values it read. False for ops that round by
// nature.
bool exact_in_f32(const Oracle& oracle, const Op& op);

}  // namespace stepscope::test
