// Convolutions as products of columns: what scratch they ask for, in blocks and whole, and what
// thread counts may change.
// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include <fmt/format.h>

#include <vector>

#include "tests/backends/eigen/variants.h"
#include "tests/conformance/cells.h"
#include "tests/conformance/compare.h"

namespace stepscope::eigen {
namespace {

using namespace conformance;

OpCase forward(const Shape& x, const Shape& w, const Conv2dAttrs& attrs) {
  return {"convolution", attrs, {f32(x), f32(w)}};
}

Needs needs_of(OpKind kind, const OpCase& op_case, int threads = 1) {
  return backend_of({best_isa(), threads}).lower(site_of(entry_of(kind), op_case))->needs();
}

TEST(EigenConvolution, TakesTheColumnsOfAnImageAsScratch) {
  const OpCase lenet = forward({32, 6, 14, 14}, {16, 6, 5, 5}, {});
  EXPECT_EQ(needs_of(OpKind::Conv2d, lenet).scratch, 60032U) << "6 x 25 x 100 floats, in lines";
  EXPECT_EQ(needs_of(OpKind::Conv2d, lenet, 2).scratch, 2 * 60032U) << "each thread its own";
}

TEST(EigenConvolution, TakesBlocksOfRowsWhereAnImageIsLarge) {
  const OpCase large = forward({1, 16, 128, 128}, {16, 16, 3, 3}, {.pad_h = 1, .pad_w = 1});
  const std::size_t row = 4U * 16 * 9 * 128;
  EXPECT_EQ(needs_of(OpKind::Conv2d, large).scratch, 524288 / row * row);
}

TEST(EigenConvolution, TakesNoScratchWhereTheColumnsAreTheImage) {
  EXPECT_EQ(needs_of(OpKind::Conv2d, forward({4, 8, 9, 9}, {3, 8, 1, 1}, {})).scratch, 0U);
}

// Blocks of rows: 7 of 24 rows at once, the last block smaller.
void expect_within_bound(OpKind kind, const OpCase& op_case, int threads) {
  const OpEntry& op = entry_of(kind);
  const OpSite site = site_of(op, op_case);
  const Elements inputs = draw_inputs(op, op_case);
  const Elements oracle = oracle_outputs(op, op_case, inputs);
  for (const Variant& variant : runnable_isas()) {
    Backend& backend = backend_of({variant.isa, threads});
    const std::unique_ptr<Kernel> kernel = backend.lower(site);
    const RunResult result = run_op(backend, *kernel, input_bytes(site, inputs));
    EXPECT_TRUE(result.damage.empty()) << result.damage.front();
    double worst = 0.0;
    EXPECT_TRUE(
        within_bound(op, site, inputs, output_elements(site, result.outputs), oracle, &worst))
        << variant_name({variant.isa, threads});
  }
}

TEST(EigenConvolution, InBlocksOfRowsStaysWithinTheBounds) {
  const Shape x{2, 30, 23, 64}, w{5, 30, 3, 3}, y{2, 5, 23, 64};
  const Conv2dAttrs attrs{.pad_h = 1, .pad_w = 1};
  const Conv2dGradAttrs input{.pad_h = 1, .pad_w = 1, .height = 23, .width = 64};
  const Conv2dGradAttrs weight{.pad_h = 1, .pad_w = 1, .height = 3, .width = 3};
  for (const int threads : {1, 2}) {
    expect_within_bound(OpKind::Conv2d, forward(x, w, attrs), threads);
    expect_within_bound(OpKind::Conv2dInputGrad, {"blocks", input, {f32(y), f32(w)}}, threads);
    expect_within_bound(OpKind::Conv2dWeightGrad, {"blocks", weight, {f32(x), f32(y)}}, threads);
  }
}

// An image is one thread's: two threads compute the bits of one. Sums over images are not.
TEST(EigenConvolution, OfEachImageDoesNotDependOnTheThreadCount) {
  const OpCase op_case = forward({5, 3, 12, 12}, {8, 3, 3, 3}, {});
  const OpSite site = site_of(entry_of(OpKind::Conv2d), op_case);
  const std::vector<Bytes> inputs =
      input_bytes(site, draw_inputs(entry_of(OpKind::Conv2d), op_case));
  const auto outputs = [&](int threads) {
    Backend& backend = backend_of({best_isa(), threads});
    const std::unique_ptr<Kernel> kernel = backend.lower(site);
    return run_op(backend, *kernel, inputs).outputs;
  };
  EXPECT_TRUE(same_bits(site, outputs(1), outputs(2)));
}

// Products, columns, and own parts are told apart, and are as many as the kernel says.
TEST(EigenComposed, ReportWhoComputed) {
  const auto counted = [](OpKind kind, const OpCase& op_case) {
    Backend& backend = backend_of({best_isa(), 1});
    const OpEntry& op = entry_of(kind);
    const OpSite site = site_of(op, op_case);
    const std::unique_ptr<Kernel> kernel = backend.lower(site);
    const Counters made =
        run_op(backend, *kernel, input_bytes(site, draw_inputs(op, op_case))).counted;
    EXPECT_EQ(made.library_calls + made.own_calls, kernel->calls());
    EXPECT_EQ(made.library_calls, 1U);
    return made.own_calls;
  };
  const auto linear = [](Activation activation) {
    return OpCase{
        "linear", MatMulAttrs{.activation = activation}, {f32({4, 5}), f32({5, 3}), f32({3})}};
  };
  EXPECT_EQ(counted(OpKind::Linear, linear(Activation::none)), 0U);
  EXPECT_EQ(counted(OpKind::Linear, linear(Activation::tanh)), 1U);
  EXPECT_EQ(counted(OpKind::Conv2d, forward({2, 3, 6, 6}, {4, 3, 3, 3}, {})), 1U) << "columns";
  EXPECT_EQ(counted(OpKind::Conv2d, forward({2, 3, 6, 6}, {4, 3, 1, 1}, {})), 0U);
  const Conv2dUpdateAttrs update{.bias_grad = true};
  EXPECT_EQ(counted(OpKind::Conv2dWeightUpdate,
                    {"update", update, {f32({4, 3, 3, 3}), f32({2, 3, 6, 6}), f32({2, 4, 4, 4})}}),
            3U)
      << "columns, W - dw, sums of dy";
}

}  // namespace
}  // namespace stepscope::eigen
