// The conformance suite on the CUDA backend under the simulator: every case of every op, captured
// and of explicit nodes, special values, and bits under any order of blocks and threads.
// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "ops/ir/op_def.h"
#include "tests/backends/cuda/backend/ways.h"
#include "tests/conformance/checks.h"
#include "tests/conformance/differences.h"

namespace stepscope::cuda {
namespace {

using namespace conformance;

struct Cell {
  Way way;
  const OpEntry* op;
  const OpCase* op_case;
};

// Each case in each way; the cases of an op on one device after the other.
std::vector<Cell> cells() {
  std::vector<Cell> all;
  for (const OpEntry& op : all_ops()) {
    std::uint64_t n = static_cast<std::uint64_t>(op.kind);
    for (const OpCase& op_case : op.table.cases) {
      for (const Way& way : nth_ways(n++)) all.push_back({way, &op, &op_case});
    }
  }
  return all;
}

// Of no way in particular.
std::vector<Cell> cases() {
  std::vector<Cell> all = cells();
  std::erase_if(all, [](const Cell& cell) { return cell.way.record_as == RecordAs::nodes; });
  return all;
}

std::string name_of(const Cell& cell) {
  return fmt::format("{}_{}_{}", cell.way.name, cell.op->name, cell.op_case->name);
}

// The op, or the one that makes an operand of it.
bool is_named(const OpEntry& op, const std::vector<Operand>& operands, const std::string& text) {
  if (text.find(op.name) != std::string::npos) return true;
  return std::any_of(operands.begin(), operands.end(), [&](const Operand& operand) {
    return operand.source != nullptr && text.find(name(operand.source->kind)) != std::string::npos;
  });
}

// What is refused is what the backend is known to lack, by name. "": so it is.
std::string wrong_refusal(const OpEntry& op, const std::vector<Operand>& operands,
                          const std::string& unsupported) {
  if (is_left_out(op.kind) == unsupported.empty()) {
    return fmt::format("{} is {}supported, and must {}be: {}", op.name,
                       unsupported.empty() ? "" : "not ", is_left_out(op.kind) ? "not " : "",
                       unsupported);
  }
  if (unsupported.empty() || is_named(op, operands, unsupported)) return {};
  return fmt::format("{} is refused without its name: {}", op.name, unsupported);
}

void expect_good(const OpEntry& op, const std::vector<Operand>& operands, const Findings& found) {
  for (const std::string& failure : found.failures) ADD_FAILURE() << failure;
  EXPECT_EQ(wrong_refusal(op, operands, found.unsupported), "");
}

class CudaConformance : public BackendTest, public testing::WithParamInterface<Cell> {
 protected:
  CudaConformance() : BackendTest(GetParam().way) {}
};

TEST_P(CudaConformance, Cell) {
  const auto& [way, op, op_case] = GetParam();
  expect_good(*op, op_case->in, check_case(*make_backend(way), *op, *op_case));
}
INSTANTIATE_TEST_SUITE_P(All, CudaConformance, testing::ValuesIn(cells()),
                         [](const auto& made) { return name_of(made.param); });

class CudaOrders : public BackendTest, public testing::WithParamInterface<Cell> {
 protected:
  CudaOrders() : BackendTest(GetParam().way) {}
};

// Blocks and threads run in no order that a kernel may rely on.
TEST_P(CudaOrders, BitsAreTheSame) {
  using enum cudasim::Order;
  const auto& [way, op, op_case] = GetParam();
  if (is_left_out(op->kind)) GTEST_SKIP() << op->name << " is left out";
  const std::unique_ptr<Backend> backend = make_backend(way);
  const Lowered lowered = lower(*backend, *op, *op_case);
  ASSERT_NE(lowered.kernel, nullptr) << lowered.reason;
  const std::vector<Bytes> inputs = input_bytes(*backend, *op, *op_case);
  cudasim::set_orders(ascending, ascending);
  const RunResult ascending_result = run_op(*backend, *lowered.kernel, inputs);
  for (const auto& [blocks, threads] :
       {std::pair{descending, descending}, std::pair{seeded, seeded}}) {
    cudasim::set_orders(blocks, threads);
    const RunResult result = run_op(*backend, *lowered.kernel, inputs);
    EXPECT_EQ(different_bits(site_of(*op, *op_case), result.outputs, ascending_result.outputs), "");
  }
}
INSTANTIATE_TEST_SUITE_P(All, CudaOrders, testing::ValuesIn(cases()),
                         [](const auto& made) { return name_of(made.param); });

class CudaSpecialValues : public BackendTest, public testing::WithParamInterface<const OpEntry*> {
 protected:
  CudaSpecialValues() : BackendTest(nth_ways(0)[0]) {}
};

TEST_P(CudaSpecialValues, AsWritten) {
  const OpEntry& op = *GetParam();
  const std::unique_ptr<Backend> backend = make_backend(nth_ways(0)[0]);
  ASSERT_FALSE(op.table.specials.empty());
  for (const SpecialCase& special : op.table.specials) {
    SCOPED_TRACE(special.name);
    expect_good(op, as_case(special).in, check_special(*backend, op, special));
  }
}

std::vector<const OpEntry*> entries() {
  std::vector<const OpEntry*> all;
  for (const OpEntry& op : all_ops()) all.push_back(&op);
  return all;
}
INSTANTIATE_TEST_SUITE_P(All, CudaSpecialValues, testing::ValuesIn(entries()),
                         [](const auto& made) { return made.param->name; });

}  // namespace
}  // namespace stepscope::cuda
