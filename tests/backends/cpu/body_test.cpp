// Bodies: for which ops there are any, what they refuse and how, updates of several tensors, and
// the loss with its gradient in one call.
// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include <fmt/format.h>

#include <cstring>
#include <set>
#include <vector>

#include "ops/ir/op_def.h"
#include "tests/backends/cpu/own_backend.h"
#include "tests/conformance/cells.h"
#include "tests/support/errors.h"

namespace stepscope::cpu {
namespace {

using enum OpKind;
using test::error_of;

TEST(CpuBody, ThereIsOneForEveryOpThatIsNoProduct) {
  const std::set<OpKind> products = {MatMul,
                                     Linear,
                                     MatMulReluGrad,
                                     MatMulBiasGrad,
                                     MatMulUpdate,
                                     LinearReluMask,
                                     MatMulMaskGrad,
                                     MatMulSgdUpdate,
                                     Conv2d,
                                     Conv2dBias,
                                     Conv2dInputGrad,
                                     Conv2dInputReluGrad,
                                     Conv2dWeightGrad,
                                     Conv2dWeightBiasGrad,
                                     Conv2dWeightUpdate};
  for (std::size_t i = 0; i < kBuiltinOps; ++i) {
    const auto kind = static_cast<OpKind>(i);
    EXPECT_EQ(has_body(kind), !products.contains(kind)) << stepscope::name(kind);
  }
}

TEST(CpuBody, OfAProductIsRefused) {
  const OpSite site = site_of(MatMul, MatMulAttrs{}, {tensor({2, 3}), tensor({3, 4})});
  EXPECT_EQ(error_of([&] { make_body(site, Isa::v2); }),
            "unsupported: cpu: has no kernel for MatMul");
}

TEST(CpuBody, RefusesOtherElementTypesByNameOfOpAndType) {
  using conformance::OpEntry;
  for (const OpEntry& op : conformance::all_ops()) {
    if (!has_body(op.kind) || op.kind == Cast || op.kind == Gather || op.kind == Reorder) continue;
    const OpSite site = conformance::site_of(op, op.table.cases.front(), DType::f64);
    EXPECT_EQ(error_of([&] { make_body(site, Isa::v2); }),
              fmt::format("unsupported: cpu: {} on f64, only f32 is; take the reference backend",
                          op.name));
  }
}

TEST(CpuBody, RefusesLayoutsOfOthers) {
  const OpSite site = site_of(Relu, {}, {tensor({2, 3, 4, 4}, 300)});
  EXPECT_EQ(error_of([&] { make_body(site, Isa::v2); }),
            "unsupported: cpu: layout 300 is no layout of activations, those are 0 to 255");
}

TEST(CpuBody, OfAFillRefusesLayouts) {
  const TensorType type = tensor({2, 3, 4, 4}, 16);
  const OpSite site{Fill, FillAttrs{type, 1.0}, {}, {type}};
  EXPECT_EQ(error_of([&] { make_body(site, Isa::v2); }),
            "unsupported: cpu: Fill on layout 16, only row-major is");
}

// Each update once for all tensors, and once for each: the same bits.
template <class UpdateAttrs>
void expect_as_one_by_one(OpKind kind, UpdateAttrs attrs, std::size_t per_tensor, bool has_rate,
                          bool has_step) {
  const std::vector<std::int64_t> sizes = {1, 37, 1000};
  attrs.tensors = static_cast<std::int64_t>(sizes.size());
  std::vector<TensorType> types;
  std::vector<Bytes> in;
  for (std::size_t role = 0; role < per_tensor; ++role) {
    for (const std::int64_t size : sizes) {
      types.push_back(tensor({size}));
      Bytes values = drawn(size, static_cast<std::uint32_t>(in.size()));
      if (kind == AdamUpdate && role == 3) {  // squares
        std::vector<float> squares = floats_of(values);
        for (float& value : squares) value *= value;
        values = bytes_of(squares);
      }
      in.push_back(values);
    }
  }
  std::vector<TensorType> tail_types;
  std::vector<Bytes> tail;
  if (has_rate) {
    tail_types.push_back(tensor(Shape{}));
    tail.push_back(bytes_of({0.125F}));
  }
  if (has_step) {
    tail_types.push_back({Shape{}, DType::i32});
    tail.push_back({std::byte{3}, std::byte{0}, std::byte{0}, std::byte{0}});
  }
  types.insert(types.end(), tail_types.begin(), tail_types.end());
  std::vector<Bytes> all = in;
  all.insert(all.end(), tail.begin(), tail.end());
  for (const Isa isa : runnable_isas()) {
    const std::vector<Bytes> together = run(site_of(kind, attrs, types), all, isa);
    UpdateAttrs single = attrs;
    single.tensors = 1;
    for (std::size_t t = 0; t < sizes.size(); ++t) {
      std::vector<TensorType> own_types;
      std::vector<Bytes> own;
      for (std::size_t role = 0; role < per_tensor; ++role) {
        own_types.push_back(tensor({sizes[t]}));
        own.push_back(in[role * sizes.size() + t]);
      }
      own_types.insert(own_types.end(), tail_types.begin(), tail_types.end());
      own.insert(own.end(), tail.begin(), tail.end());
      const std::vector<Bytes> alone = run(site_of(kind, single, own_types), own, isa);
      const std::size_t outputs = per_tensor - 1;  // all but the gradient
      for (std::size_t k = 0; k < outputs; ++k) {
        EXPECT_EQ(together[k * sizes.size() + t], alone[k]) << t << " output " << k;
      }
      EXPECT_NE(alone[0], own[0]) << "the parameters must have moved";
    }
    if (attrs.advance_step) {
      EXPECT_EQ(together.back()[0], std::byte{4});
    }
  }
}

TEST(CpuUpdates, OfSeveralTensorsAreThoseOfEach) {
  expect_as_one_by_one(SgdUpdate, SgdAttrs{}, 2, true, false);
  expect_as_one_by_one(SgdUpdate, SgdAttrs{.advance_step = true}, 2, true, true);
  expect_as_one_by_one(SgdUpdate, SgdAttrs{.scaled_gradient = true}, 2, false, false);
  expect_as_one_by_one(SgdUpdate, SgdAttrs{.advance_step = true, .scaled_gradient = true}, 2, false,
                       true);
  expect_as_one_by_one(MomentumUpdate, MomentumAttrs{.mu = 0.9}, 3, true, false);
  expect_as_one_by_one(MomentumUpdate, MomentumAttrs{.mu = 0.9, .advance_step = true}, 3, true,
                       true);
  expect_as_one_by_one(AdamUpdate, AdamAttrs{}, 4, true, true);
  expect_as_one_by_one(AdamUpdate, AdamAttrs{.advance_step = true}, 4, true, true);
}

// 37 rows: two blocks and a part of one.
TEST(CpuSoftmax, WithItsGradientHasTheBitsOfBoth) {
  const TensorType logits = tensor({37, 10}), labels{{37}, DType::i32};
  const Bytes x = drawn(370, 2);
  Bytes classes(37 * sizeof(std::int32_t));
  for (std::int32_t n = 0; n < 37; ++n) {
    const std::int32_t label = n * 7 % 10;
    std::memcpy(classes.data() + static_cast<std::size_t>(n) * sizeof label, &label, sizeof label);
  }
  const Bytes rate = bytes_of({0.3F});
  for (const Isa isa : runnable_isas()) {
    const auto loss = run(site_of(SoftmaxCrossEntropy, {}, {logits, labels}), {x, classes}, isa);
    const auto grad = run(site_of(SoftmaxCrossEntropyGrad, {}, {logits, labels, tensor(Shape{})}),
                          {loss[1], classes, rate}, isa);
    const auto both =
        run(site_of(SoftmaxCrossEntropyWithGrad, {}, {logits, labels, tensor(Shape{})}),
            {x, classes, rate}, isa);
    EXPECT_EQ(both[0], loss[0]) << name(isa);
    EXPECT_EQ(both[1], grad[0]) << name(isa);
    const auto plain =
        run(site_of(SoftmaxCrossEntropyWithGrad, {}, {logits, labels}), {x, classes}, isa);
    const auto plain_grad =
        run(site_of(SoftmaxCrossEntropyGrad, {}, {logits, labels}), {loss[1], classes}, isa);
    EXPECT_EQ(plain[1], plain_grad[0]) << name(isa);
  }
}

}  // namespace
}  // namespace stepscope::cpu
