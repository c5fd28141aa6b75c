// Special values: what docs/vocabulary.md says of zeros, infinities, NaN, ties and the ends of the
// label range, as tables written by hand, on every backend that computes.
// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include <fmt/format.h>

#include "tests/conformance/cells.h"
#include "tests/conformance/checks.h"

namespace stepscope::conformance {
namespace {

struct Row {
  std::string backend;
  const OpEntry* op = nullptr;
};

std::vector<Row> rows() {
  std::vector<Row> all;
  for (const std::string& name : backend_names()) {
    for (const OpEntry& op : all_ops()) {
      if (name != "null") all.push_back({name, &op});
    }
  }
  return all;
}

class SpecialValues : public testing::TestWithParam<Row> {};

TEST_P(SpecialValues, AsWritten) {
  const auto& [backend_name, op] = GetParam();
  Backend& under_test = backend(backend_name);
  ASSERT_FALSE(op->table.specials.empty()) << op->name << " has no special cases";
  std::string unsupported;
  for (const SpecialCase& special : op->table.specials) {
    SCOPED_TRACE(special.name);
    const Findings found = check_special(under_test, *op, special);
    for (const std::string& failure : found.failures) ADD_FAILURE() << failure;
    if (!found.unsupported.empty()) unsupported = found.unsupported;
  }
  if (!unsupported.empty()) GTEST_SKIP() << unsupported;
}

INSTANTIATE_TEST_SUITE_P(All, SpecialValues, testing::ValuesIn(rows()), [](const auto& made) {
  return fmt::format("{}_{}", made.param.backend, made.param.op->name);
});

}  // namespace
}  // namespace stepscope::conformance
