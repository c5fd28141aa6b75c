// What make_own_kernel() makes of a site: what it refuses, how many kernels it takes, where output
// 0 may lie, what it needs.
// SPDX-License-Identifier: Apache-2.0
#include <string>

#include "backends/cuda/device/numbers.h"
#include "backends/cuda/kernels.h"
#include "ops/base/error.h"
#include "tests/backends/cuda/sim/fixture.h"

namespace stepscope::cuda {
namespace {

TensorType f32(Shape shape) { return {shape, DType::f32}; }
TensorType i32(Shape shape) { return {shape, DType::i32}; }

std::string refusal_of(const OpSite& site) {
  try {
    make_own_kernel(site);
  } catch (const Error& error) {
    EXPECT_EQ(Fault::unsupported, error.fault());
    return error.what();
  }
  return "taken";
}

class OwnSites : public cudasim::SimTest {};

TEST_F(OwnSites, OthersOps) {
  const TensorType image = f32({1, 1, 4, 4});
  EXPECT_EQ(
      nullptr,
      make_own_kernel({OpKind::MatMul, MatMulAttrs{}, {f32({2, 2}), f32({2, 2})}, {f32({2, 2})}}));
  EXPECT_EQ(nullptr, make_own_kernel({OpKind::Conv2d, Conv2dAttrs{}, {image, image}, {image}}));
  EXPECT_EQ(nullptr, make_own_kernel({OpKind::Reorder, ReorderAttrs{}, {image}, {image}}));
}

TEST_F(OwnSites, Refusals) {
  const TensorType f64{{3}, DType::f64};
  EXPECT_EQ("cuda-sim: Relu on f64, only f32 is; take the reference backend",
            refusal_of({OpKind::Relu, {}, {f64}, {f64}}));
  EXPECT_EQ("cuda-sim: Add on f16, only f32 is; take the reference backend",
            refusal_of({OpKind::Add, {}, {{{3}, DType::f16}, {{3}, DType::f16}}, {f32({3})}}));
  EXPECT_EQ("cuda-sim: Cast on bf16, only f32 is; take the reference backend",
            refusal_of({OpKind::Cast, CastAttrs{DType::f32}, {{{3}, DType::bf16}}, {f32({3})}}));
  const TensorType blocked{{3}, DType::f32, LayoutId{16}};
  EXPECT_EQ("cuda-sim: Relu on layout 16, only row-major is",
            refusal_of({OpKind::Relu, {}, {blocked}, {blocked}}));
  const TensorType huge = f32({std::int64_t{1} << 31});
  EXPECT_EQ("cuda-sim: Relu on 2147483648 elements, at most 2147483647 are",
            refusal_of({OpKind::Relu, {}, {huge}, {huge}}));
  const TensorType wide = f32({1, 65535 * 128 + 1});
  EXPECT_EQ("cuda-sim: ScatterAdd of rows of 8388481 elements, at most 8388480 are",
            refusal_of({OpKind::ScatterAdd, ScatterAddAttrs{1}, {wide, i32({1})}, {wide}}));
  std::vector<TensorType> in(46, f32({1}));
  in.push_back(f32(Shape{}));
  EXPECT_EQ("cuda-sim: SgdUpdate of 23 tensors, at most 22 are",
            refusal_of({OpKind::SgdUpdate, SgdAttrs{.tensors = 23}, in,
                        std::vector<TensorType>(23, f32({1}))}));
}

// One kernel at any batch; where rows are dealt out to several blocks, they meet in the scratch and
// draw from a ticket that the kernel holds.
TEST_F(OwnSites, KernelsOfALoss) {
  const auto loss = [](std::int64_t N, std::int64_t C) {
    const TensorType logits = f32({N, C});
    return make_own_kernel(
        {OpKind::SoftmaxCrossEntropyWithGrad, {}, {logits, i32({N})}, {f32(Shape{}), logits}});
  };
  EXPECT_EQ(1U, loss(1024, 10)->calls());
  EXPECT_EQ(0U, loss(1024, 10)->needs().scratch);
  EXPECT_EQ(0U, cudasim::totals().device_bytes);
  const auto large = loss(65536, 10);
  EXPECT_EQ(1U, large->calls());
  EXPECT_EQ(kMostRowBlocks * sizeof(double), large->needs().scratch);
  EXPECT_GT(cudasim::totals().device_bytes, 0U);
}

TEST_F(OwnSites, InPlace) {
  const TensorType x = f32({2, 3});
  EXPECT_EQ(0b11U, make_own_kernel({OpKind::Add, {}, {x, x}, {x}})->needs().in_place);
  EXPECT_EQ(0b1U, make_own_kernel({OpKind::Relu, {}, {x}, {x}})->needs().in_place);
  EXPECT_EQ(
      0b0U,
      make_own_kernel({OpKind::ReduceSum, ReduceAttrs{0}, {x}, {f32({3})}})->needs().in_place);
}

// A small product meets in the scratch where K is long, and draws from a ticket for each tile.
TEST_F(OwnSites, SmallUpdate) {
  const auto update = [](std::int64_t K) {
    const TensorType w = f32({128, 10}), bias = f32({10});
    return make_own_kernel({OpKind::MatMulSgdUpdate,
                            SmallUpdateAttrs{.transpose_a = true, .bias = true},
                            {w, f32({K, 128}), f32({K, 10}), bias},
                            {w, bias}});
  };
  EXPECT_EQ(0U, update(32)->needs().scratch);
  EXPECT_EQ(0U, cudasim::totals().device_bytes);
  const auto large = update(4096);
  EXPECT_EQ(1U, large->calls());
  EXPECT_EQ(5U * 32U * 512U * sizeof(float), large->needs().scratch);
  EXPECT_GT(cudasim::totals().device_bytes, 0U);
  const TensorType half{{2, 2}, DType::f16};
  EXPECT_EQ("cuda-sim: MatMulSgdUpdate on f16, only f32 is; take the reference backend",
            refusal_of({OpKind::MatMulSgdUpdate, SmallUpdateAttrs{}, {half}, {half}}));
  const TensorType wide = f32({46340, 46340});  // whose partial sums outgrow an index
  EXPECT_EQ(
      "cuda-sim: MatMulSgdUpdate of {46340, 46340} with sums of 46340: 4197753 tiles of 31 "
      "shares make 66626735616 partial sums, at most 4294967295 are",
      refusal_of({OpKind::MatMulSgdUpdate,
                  SmallUpdateAttrs{},
                  {wide, wide, wide, f32({1}), f32({1})},
                  {wide, f32({1})}}));
}

// Adam that counts the step holds a ticket of its own, for as long as it lives.
TEST_F(OwnSites, TicketOfAdam) {
  const TensorType w = f32({5000});
  for (const bool advance : {false, true}) {
    std::vector<TensorType> out = {w, w, w};
    if (advance) out.push_back(i32(Shape{}));
    const auto kernel = make_own_kernel({OpKind::AdamUpdate,
                                         AdamAttrs{.advance_step = advance},
                                         {w, w, w, w, f32(Shape{}), i32(Shape{})},
                                         out});
    EXPECT_EQ(advance, cudasim::totals().device_bytes > 0);
    EXPECT_EQ(1U, kernel->calls());
  }
  EXPECT_EQ(0U, cudasim::totals().device_bytes);
}

}  // namespace
}  // namespace stepscope::cuda
