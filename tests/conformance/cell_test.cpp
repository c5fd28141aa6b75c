// Every op case on every backend of the build: value, damage, in-place variants, addresses, modes.
// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include <fmt/format.h>

#include "tests/conformance/cells.h"
#include "tests/conformance/checks.h"

namespace stepscope::conformance {
namespace {

class Conformance : public testing::TestWithParam<Cell> {};

TEST_P(Conformance, Cell) {
  const Cell& cell = GetParam();
  const Findings found = check_case(backend(cell.backend), *cell.op, *cell.op_case);
  for (const std::string& failure : found.failures) ADD_FAILURE() << failure;
  if (!found.unsupported.empty()) GTEST_SKIP() << found.unsupported;
  RecordProperty("share_of_bound", fmt::format("{:.3f}", found.share_of_bound));
}

INSTANTIATE_TEST_SUITE_P(All, Conformance, testing::ValuesIn(all_cells()),
                         [](const auto& made) { return cell_name(made.param); });

}  // namespace
}  // namespace stepscope::conformance
