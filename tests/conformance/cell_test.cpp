// Every op case on every backend: value, damage, in-place variants, addresses, modes.
// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include <fmt/format.h>

#include <algorithm>

#include "ops/ir/op_def.h"
#include "tests/conformance/cells.h"
#include "tests/conformance/compare.h"
#include "tests/conformance/op_graph.h"

namespace stepscope::conformance {
namespace {

// A cell, lowered: what the checks below need.
struct Bench {
  const Cell& cell;
  Backend& backend;
  OpSite site;
  const Kernel& kernel;
  Elements inputs;
  std::vector<Bytes> bytes;

  RunResult run(const RunOptions& options = {}) const {
    return run_op(backend, kernel, bytes, options);
  }
  bool computes() const { return cell.backend != "null"; }
};

bool is_saved(const OpSite& site, std::size_t output) {
  return (op_def(site.kind).saved_outputs >> output & 1U) != 0;
}

void expect_undamaged(const RunResult& result, const std::string& what) {
  for (const std::string& damage : result.damage) ADD_FAILURE() << what << ": " << damage;
}

void expect_counted(const Bench& bench, const RunResult& result) {
  EXPECT_EQ(result.counted.submitted, 1U);
  EXPECT_EQ(result.counted.calls_submitted, bench.kernel.calls());
  EXPECT_EQ(result.counted.library_calls + result.counted.own_calls, bench.kernel.calls());
}

void expect_values(const Bench& bench, const RunResult& result) {
  const OpEntry& op = *bench.cell.op;
  double worst = 0.0;
  EXPECT_TRUE(within_bound(op, bench.site, bench.inputs,
                           output_elements(bench.site, result.outputs),
                           oracle_outputs(op, *bench.cell.op_case, bench.inputs), &worst));
  testing::Test::RecordProperty("share_of_bound", fmt::format("{:.3f}", worst));
  if (op.table.agreement != Agreement::equal_bits) return;
  Backend& reference = backend("reference");
  const std::unique_ptr<Kernel> kernel = reference.lower(bench.site);
  const std::vector<Bytes> bytes = input_bytes(reference, op, *bench.cell.op_case);
  EXPECT_TRUE(same_bits(bench.site, result.outputs, run_op(reference, *kernel, bytes).outputs))
      << "against the reference in f32";
}

// Output 0 over each input that op and kernel allow; and both inputs one operand, where they can
// be.
void expect_in_place(const Bench& bench, const RunResult& plain) {
  const std::uint32_t allowed = op_def(bench.site.kind).in_place & bench.kernel.needs().in_place;
  for (std::size_t i = 0; i < std::min<std::size_t>(32, bench.site.in.size()); ++i) {
    if ((allowed >> i & 1U) == 0 || bench.site.in[i].bytes() < bench.site.out[0].bytes()) continue;
    const RunResult result = bench.run({.in_place = static_cast<int>(i)});
    EXPECT_TRUE(same_bits(bench.site, result.outputs, plain.outputs)) << "in place of input " << i;
    expect_undamaged(result, fmt::format("in place of input {}", i));
  }
  if (bench.site.in.size() != 2 || bench.site.in[0] != bench.site.in[1]) return;
  Bench twice = bench;
  twice.bytes[1] = twice.bytes[0];
  const RunResult apart = twice.run();
  EXPECT_TRUE(same_bits(bench.site, twice.run({.shared_inputs = true}).outputs, apart.outputs))
      << "one operand as both inputs";
  if ((allowed & 0b11) != 0b11) return;
  EXPECT_TRUE(same_bits(bench.site, twice.run({.in_place = 0, .shared_inputs = true}).outputs,
                        apart.outputs))
      << "in place of an operand that is both inputs";
}

void expect_same_at_other_addresses(const Bench& bench, const RunResult& plain) {
  for (const std::size_t gap : {std::size_t{2}, std::size_t{5}}) {
    const RunResult moved = bench.run({.gap = gap});
    EXPECT_TRUE(same_bits(bench.site, moved.outputs, plain.outputs)) << "gap " << gap;
    expect_undamaged(moved, fmt::format("gap {}", gap));
  }
}

void expect_same_in_modes(const Bench& bench, const RunResult& plain) {
  OpGraph made = make_op_graph(*bench.cell.op, *bench.cell.op_case);
  for (std::size_t k = 0; k < made.out.size(); ++k) {
    if (!is_saved(bench.site, k)) made.graph.keep(made.out[k], fmt::format("out{}", k));
  }
  for (const Mode mode : {Mode::eager, Mode::planned, Mode::graph}) {
    SCOPED_TRACE(name(mode));
    GraphRun run(bench.backend, mode, made.graph);
    run.write(made.leaves);
    run.step();
    EXPECT_EQ(executed_mode(run.counters()), mode);
    if (!bench.computes()) continue;
    std::vector<Bytes> outputs;
    for (std::size_t k = 0; k < made.out.size(); ++k) {
      outputs.push_back(is_saved(bench.site, k) ? Bytes() : run.read(fmt::format("out{}", k)));
    }
    EXPECT_TRUE(same_bits(bench.site, outputs, plain.outputs));
  }
}

class Conformance : public testing::TestWithParam<Cell> {};

TEST_P(Conformance, Cell) {
  const Cell& cell = GetParam();
  const OpSite site = site_of(*cell.op, *cell.op_case);
  Backend& under_test = backend(cell.backend);
  const Lowered lowered = lower(under_test, *cell.op, *cell.op_case);
  if (lowered.kernel == nullptr) GTEST_SKIP() << lowered.reason;

  const Bench bench{cell,
                    under_test,
                    site,
                    *lowered.kernel,
                    draw_inputs(*cell.op, *cell.op_case),
                    input_bytes(under_test, *cell.op, *cell.op_case)};
  const RunResult plain = bench.run();
  expect_undamaged(plain, "plain run");
  expect_counted(bench, plain);
  if (bench.computes()) {
    expect_values(bench, plain);
    expect_in_place(bench, plain);
    expect_same_at_other_addresses(bench, plain);
  }
  expect_same_in_modes(bench, plain);
}

INSTANTIATE_TEST_SUITE_P(All, Conformance, testing::ValuesIn(all_cells()),
                         [](const auto& made) { return cell_name(made.param); });

}  // namespace
}  // namespace stepscope::conformance
