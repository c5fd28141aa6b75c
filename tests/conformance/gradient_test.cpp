// Gradient rules of all ops against central differences, and ops without one.
// SPDX-License-Identifier: Apache-2.0
#include "tests/conformance/gradient.h"

#include <gtest/gtest.h>

#include <fmt/format.h>

#include <algorithm>

#include "ops/autodiff/backward.h"
#include "ops/ir/op_def.h"
#include "tests/support/errors.h"

namespace stepscope::conformance {
namespace {

bool has_floating(const std::vector<TensorType>& types) {
  return std::any_of(types.begin(), types.end(),
                     [](const TensorType& type) { return is_floating(type.dtype); });
}

struct Subject {
  const OpEntry* op = nullptr;
  const OpCase* op_case = nullptr;
};

std::vector<Subject> subjects() {
  std::vector<Subject> all;
  for (const OpEntry& op : all_ops()) {
    for (const OpCase& op_case : op.table.cases) {
      if (has_gradient(op, op_case)) all.push_back({&op, &op_case});
    }
  }
  return all;
}

class GradientRule : public testing::TestWithParam<Subject> {};

TEST_P(GradientRule, MatchesCentralDifferences) {
  const Findings found = check_gradient(*GetParam().op, *GetParam().op_case);
  for (const std::string& failure : found.failures) ADD_FAILURE() << failure;
}

INSTANTIATE_TEST_SUITE_P(All, GradientRule, testing::ValuesIn(subjects()), [](const auto& made) {
  return fmt::format("{}_{}", made.param.op->name, made.param.op_case->name);
});

// Ops without a rule say so by name, unless nothing floating comes out of them.
TEST(NoGradientRule, IsSaidByName) {
  for (const OpEntry& op : all_ops()) {
    if (op_def(op.kind).vjp != nullptr) continue;
    SCOPED_TRACE(op.name);
    const OpCase& op_case = op.table.cases.front();
    LossGraph made = loss_of(op, op_case, ~0U);
    if (!made.loss.valid()) {
      EXPECT_FALSE(has_floating(site_of(op, op_case).out));
      continue;
    }
    EXPECT_EQ(test::error_of([&] { add_backward(made.graph, made.loss, made.in); }),
              fmt::format("unsupported: autodiff: {} has no gradient rule", op.name));
  }
}

TEST(NoGradientRule, ThroughProbabilities) {
  const OpEntry& op = entry_of(OpKind::SoftmaxCrossEntropy);
  LossGraph made = loss_of(op, op.table.cases.front(), ~op.table.gradient_through);
  EXPECT_EQ(test::error_of([&] { add_backward(made.graph, made.loss, made.in); }),
            "unsupported: SoftmaxCrossEntropy: no gradient rule through the probabilities, only "
            "through the loss");
}

}  // namespace
}  // namespace stepscope::conformance
