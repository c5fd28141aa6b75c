// The comparisons of differences.h as assertions of GoogleTest.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <gtest/gtest.h>

#include "tests/conformance/cells.h"
#include "tests/conformance/differences.h"

namespace stepscope::conformance {

inline testing::AssertionResult none(const std::string& difference) {
  if (difference.empty()) return testing::AssertionSuccess();
  return testing::AssertionFailure() << difference;
}

inline testing::AssertionResult same_bits(const OpSite& site, const std::vector<Bytes>& outputs,
                                          const std::vector<Bytes>& expected) {
  return none(different_bits(site, outputs, expected));
}

inline testing::AssertionResult within_bound(const OpEntry& op, const OpSite& site,
                                             const Elements& inputs, const Elements& outputs,
                                             const Elements& oracle, double* worst) {
  return none(beyond_bound(op, site, inputs, outputs, oracle, worst));
}

inline testing::AssertionResult as_written(Agreement agreement, const Elements& outputs,
                                           const Elements& written) {
  return none(unlike_written(agreement, outputs, written));
}

}  // namespace stepscope::conformance
