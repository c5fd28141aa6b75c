// The bound that several families use.
// SPDX-License-Identifier: Apache-2.0
#include "tests/conformance/tolerance.h"

namespace stepscope::conformance {

Bound relative(std::int64_t roundings) {
  return [roundings](const Oracle& oracle, std::size_t output) {
    return each_element(oracle, output, [&](std::size_t i) {
      return gamma(roundings) * std::abs(oracle.out[output][i]);
    });
  };
}

}  // namespace stepscope::conformance
