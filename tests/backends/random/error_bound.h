// ErrorBound: how far f32 results may lie from the oracle's, by running error analysis.
//
// For each element of each value it carries e with |computed - exact| <= e, for any kernel that
// rounds each basic operation to nearest once, sums in any order, with or without fused products,
// and is right to a few units in the last place in exp, tanh and the like. After N. Higham,
// "Accuracy and Stability of Numerical Algorithms", 2nd ed., chapter 3.
//
// At a kink (ReLU at zero, the first largest of a row) results within the bound may fall on either
// side, and nothing can be said: ambiguous() tells that an op met one, or that the bound ran away.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <span>
#include <vector>

#include "tests/backends/random/oracle.h"

namespace stepscope::test {

class ErrorBound {
 public:
  // The oracle must outlive the bound. Declared values start without an error.
  explicit ErrorBound(const Oracle& oracle);

  // Of an op that the oracle has just run, in order. Throws unsupported for an op without a rule.
  void follow(const Op& op);
  // As Oracle::finish_step, and together with it.
  void finish_step();

  // Per element; empty for integers, which are exact as long as nothing was ambiguous.
  std::span<const double> errors(ValueId id) const;
  bool ambiguous() const { return ambiguous_; }

 private:
  const Oracle& oracle_;
  std::vector<std::vector<double>> errors_;  // per value; of a view: nothing
  bool ambiguous_ = false;
};

}  // namespace stepscope::test
