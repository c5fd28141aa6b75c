// Every op on every instruction set and thread count: values and special values by the table of
// conformance, products at all small sizes, and what may depend on the instruction set or the
// address.
// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include <fmt/format.h>

#include <algorithm>
#include <string>
#include <vector>

#include "graph/plan/wishes.h"
#include "tests/backends/eigen/variants.h"
#include "tests/conformance/cells.h"
#include "tests/conformance/compare.h"

namespace stepscope::eigen {
namespace {

using namespace conformance;

// What passes make for backends with wishes; this one has none of those.
bool is_wished(OpKind kind) {
  return std::find(kWishedOps.begin(), kWishedOps.end(), kind) != kWishedOps.end();
}

class EveryVariant : public testing::TestWithParam<Variant> {
 protected:
  RunResult run(const OpSite& site, const std::vector<Bytes>& inputs,
                const RunOptions& options = {}) const {
    Backend& backend = backend_of(GetParam());
    const std::unique_ptr<Kernel> kernel = backend.lower(site);
    RunResult result = run_op(backend, *kernel, inputs, options);
    for (const std::string& damage : result.damage) ADD_FAILURE() << damage;
    return result;
  }

  void expect_within_bound(const OpEntry& op, const OpCase& op_case,
                           const std::vector<std::size_t>& offsets) const {
    SCOPED_TRACE(fmt::format("{} {} {}", op.name, op_case.name, to_string(op_case.attrs)));
    const OpSite site = site_of(op, op_case);
    const Elements inputs = draw_inputs(op, op_case);
    const Elements oracle = oracle_outputs(op, op_case, inputs);
    for (const std::size_t offset : offsets) {
      const RunResult result =
          run(site, input_bytes(backend_of(GetParam()), op, op_case), {.offset = offset});
      double worst = 0.0;
      EXPECT_TRUE(
          within_bound(op, site, inputs, output_elements(site, result.outputs), oracle, &worst))
          << "offset " << offset;
    }
  }
};

// Also at addresses that fit no vector: kernels may lose time there, nothing else.
TEST_P(EveryVariant, StaysWithinTheBounds) {
  STEPSCOPE_SKIP_UNLESS_RUNS(GetParam());
  for (const OpEntry& op : all_ops()) {
    if (is_wished(op.kind)) continue;
    for (const OpCase& op_case : op.table.cases) expect_within_bound(op, op_case, {0, 4});
  }
}

// Around the sizes where Eigen changes its way: one coefficient, a matrix times a vector, small
// products, full and partial register tiles.
TEST_P(EveryVariant, MultipliesAtAllSmallSizes) {
  STEPSCOPE_SKIP_UNLESS_RUNS(GetParam());
  constexpr std::int64_t kSizes[] = {1, 2, 3, 7, 17, 64, 65};
  for (const std::int64_t M : kSizes) {
    for (const std::int64_t N : kSizes) {
      for (const std::int64_t K : kSizes) {
        for (const MatMulAttrs attrs :
             {MatMulAttrs{false, false}, {true, false}, {false, true}, {true, true}}) {
          const Shape a = attrs.transpose_a ? Shape{K, M} : Shape{M, K};
          const Shape b = attrs.transpose_b ? Shape{N, K} : Shape{K, N};
          expect_within_bound(entry_of(OpKind::MatMul),
                              {fmt::format("{}x{}x{}", M, N, K), attrs, {f32(a), f32(b)}}, {0});
        }
      }
    }
  }
}

TEST_P(EveryVariant, TakesSpecialValuesAsSpecified) {
  STEPSCOPE_SKIP_UNLESS_RUNS(GetParam());
  for (const OpEntry& op : all_ops()) {
    if (is_wished(op.kind)) continue;
    for (const SpecialCase& special : op.table.specials) {
      SCOPED_TRACE(op.name + " " + special.name);
      const OpCase op_case = as_case(special);
      const OpSite site = site_of(op, op_case);
      const std::vector<Bytes> inputs = input_bytes(backend_of(GetParam()), op, op_case);
      const Elements outputs = output_elements(site, run(site, inputs).outputs);
      const Agreement agreement = std::max(op.table.agreement, special.agreement);
      EXPECT_TRUE(as_written(agreement, outputs, special.out));
    }
  }
}

INSTANTIATE_TEST_SUITE_P(Eigen, EveryVariant, testing::ValuesIn(all_variants()),
                         [](const auto& made) { return variant_name(made.param); });

bool has_product(OpKind kind) {
  using enum OpKind;
  switch (kind) {
    case MatMul:
    case Linear:
    case MatMulReluGrad:
    case MatMulBiasGrad:
    case MatMulUpdate:
    case Conv2d:
    case Conv2dBias:
    case Conv2dInputGrad:
    case Conv2dInputReluGrad:
    case Conv2dWeightGrad:
    case Conv2dWeightBiasGrad:
    case Conv2dWeightUpdate:
      return true;
    default:
      return false;
  }
}

// Products alone use fused multiply-add and blocks of the machine's size; all else adds in one
// order.
TEST(EigenBits, OnlyProductsDependOnTheInstructionSetOrTheAddress) {
  for (const OpEntry& op : all_ops()) {
    if (has_product(op.kind) || is_wished(op.kind)) continue;
    for (const OpCase& op_case : op.table.cases) {
      SCOPED_TRACE(op.name + "/" + op_case.name);
      const OpSite site = site_of(op, op_case);
      const std::vector<Bytes> inputs = input_bytes(backend_of(runnable_isas()[0]), op, op_case);
      std::vector<Bytes> first;
      for (const Variant& variant : runnable_isas()) {
        Backend& backend = backend_of(variant);
        const std::unique_ptr<Kernel> kernel = backend.lower(site);
        for (const std::size_t offset : {0, 4, 16, 32}) {
          const std::vector<Bytes> outputs =
              run_op(backend, *kernel, inputs, {.offset = offset}).outputs;
          if (first.empty()) first = outputs;
          EXPECT_TRUE(same_bits(site, outputs, first))
              << variant_name(variant) << " offset " << offset;
        }
      }
    }
  }
}

}  // namespace
}  // namespace stepscope::eigen
