// Work rules: operations and bytes that an op cannot do without.
// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include "ops/ir/op_def.h"

namespace stepscope {
namespace {

Work work_of(OpKind kind, const std::vector<TensorType>& in, const Attrs& attrs = {}) {
  TypeList out;
  op_def(kind).infer(in, attrs, out);
  return op_def(kind).work(in, {out.data(), out.size()}, attrs);
}

void expect(const Work& work, double flops, double bytes) {
  EXPECT_EQ(work.flops, flops);
  EXPECT_EQ(work.bytes, bytes);
}

const TensorType kMatrix{{2, 3}, DType::f32};  // 24 bytes

TEST(WorkRules, ProductsCountTheInnerSizeTwice) {
  const TensorType b{{3, 5}, DType::f32}, bt{{5, 3}, DType::f32}, at{{3, 2}, DType::f32};
  expect(work_of(OpKind::MatMul, {kMatrix, b}, MatMulAttrs{}), 2 * 2 * 3 * 5, 24 + 60 + 40);
  expect(work_of(OpKind::MatMul, {kMatrix, bt}, MatMulAttrs{false, true}), 60, 124);
  expect(work_of(OpKind::MatMul, {at, b}, MatMulAttrs{true, false}), 60, 124);
  expect(work_of(OpKind::MatMul, {at, bt}, MatMulAttrs{true, true}), 60, 124);
}

TEST(WorkRules, PointwiseOps) {
  const TensorType bias{{3}, DType::f32};
  expect(work_of(OpKind::AddBias, {kMatrix, bias}), 6, 24 + 12 + 24);
  for (const OpKind kind : {OpKind::Add, OpKind::Sub, OpKind::Mul, OpKind::ReluGrad}) {
    expect(work_of(kind, {kMatrix, kMatrix}), 6, 72);
  }
  for (const OpKind kind : {OpKind::TanhGrad, OpKind::SigmoidGrad}) {
    expect(work_of(kind, {kMatrix, kMatrix}), 18, 72);
  }
  expect(work_of(OpKind::Relu, {kMatrix}), 6, 48);
  expect(work_of(OpKind::Tanh, {kMatrix}), 6, 48);
  expect(work_of(OpKind::Sigmoid, {kMatrix}), 18, 48);
  expect(work_of(OpKind::Scale, {kMatrix}, ScaleAttrs{2.0}), 6, 48);
  expect(work_of(OpKind::Fill, {}, FillAttrs{kMatrix, 1.0}), 0, 24);
}

TEST(WorkRules, ReductionsCountWhatTheyRead) {
  expect(work_of(OpKind::ReduceSum, {kMatrix}, ReduceAttrs{0}), 6, 24 + 12);
  expect(work_of(OpKind::Broadcast, {kMatrix}, BroadcastAttrs{0, 4}), 0, 24 + 96);
}

TEST(WorkRules, Losses) {
  const TensorType labels{{2}, DType::i32};
  expect(work_of(OpKind::SoftmaxCrossEntropy, {kMatrix, labels}), 30, 24 + 8 + 4 + 24);
  expect(work_of(OpKind::SoftmaxCrossEntropyGrad, {kMatrix, labels}), 12, 24 + 8 + 24);
  expect(work_of(OpKind::Argmax, {kMatrix}), 6, 24 + 8);
  expect(work_of(OpKind::CorrectCount, {kMatrix, labels}), 6, 24 + 8 + 4);
}

TEST(WorkRules, UpdatesReadAndWriteWhatTheyChange) {
  const TensorType rate{{}, DType::f32}, step{{}, DType::i32};
  expect(work_of(OpKind::SgdUpdate, {kMatrix, kMatrix, rate}, SgdAttrs{}), 12, 3 * 24 + 4);
  expect(work_of(OpKind::MomentumUpdate, {kMatrix, kMatrix, kMatrix, rate}, MomentumAttrs{}), 24,
         5 * 24 + 4);
  expect(work_of(OpKind::AdamUpdate, {kMatrix, kMatrix, kMatrix, kMatrix, rate, step}, AdamAttrs{}),
         84, 7 * 24 + 8);
  expect(work_of(OpKind::ScheduledRate, {rate, step}, ScheduleAttrs{}), 4, 4 + 4 + 4);
}

}  // namespace
}  // namespace stepscope
