// Pointwise ops and their gradients. Special values are specified in docs/vocabulary.md:
// relu'(0) = 0, NaN propagates.
// SPDX-License-Identifier: Apache-2.0
#include "ops/base/check.h"
#include "ops/ir/build.h"
#include "ops/ir/op_def.h"

namespace stepscope::defs {
namespace {

constexpr char kAdd[] = "Add", kSub[] = "Sub", kMul[] = "Mul", kScale[] = "Scale";
constexpr char kRelu[] = "Relu", kReluGrad[] = "ReluGrad", kTanh[] = "Tanh";
constexpr char kTanhGrad[] = "TanhGrad", kSigmoid[] = "Sigmoid", kSigmoidGrad[] = "SigmoidGrad";

constexpr std::uint32_t kFirst = 0b01;
constexpr std::uint32_t kEither = 0b11;

template <const char* kName>
void infer_unary(std::span<const TensorType> in, const Attrs&, TypeList& out) {
  check_arity(kName, in, 1);
  check_floating(kName, in[0], "x");
  out.push_back(in[0]);
}

void infer_scale(std::span<const TensorType> in, const Attrs& attrs, TypeList& out) {
  infer_unary<kScale>(in, attrs, out);
  (void)own_attrs<ScaleAttrs>(kScale, attrs);
}

template <const char* kName>
void infer_binary(std::span<const TensorType> in, const Attrs&, TypeList& out) {
  check_arity(kName, in, 2);
  check_floating(kName, in[0], "the first operand");
  check_same_type(kName, in[0], in[1]);
  out.push_back(in[0]);
}

template <int kFlops>
Work work(std::span<const TensorType> in, std::span<const TensorType> out, const Attrs&) {
  return {kFlops * static_cast<double>(out[0].shape.elements()), bytes_moved(in, out)};
}

void vjp_add(GradientRequest& request) {
  request.input_grads[0] = request.output_grads[0];
  request.input_grads[1] = request.output_grads[0];
}

void vjp_sub(GradientRequest& request) {
  request.input_grads[0] = request.output_grads[0];
  if (request.wanted[1]) {
    request.input_grads[1] = build::scale(request.graph, request.output_grads[0], -1.0);
  }
}

void vjp_mul(GradientRequest& request) {
  const ValueId gradient = request.output_grads[0];
  for (std::size_t i = 0; i < 2; ++i) {
    if (!request.wanted[i]) continue;
    request.input_grads[i] = build::mul(request.graph, gradient, request.op.inputs[1 - i]);
  }
}

void vjp_scale(GradientRequest& request) {
  request.input_grads[0] = build::scale(request.graph, request.output_grads[0],
                                        std::get<ScaleAttrs>(request.op.attrs).factor);
}

// For y = f(x) whose slope is a function of y: dx = kGrad(dy, y).
template <OpKind kGrad>
void vjp_from_output(GradientRequest& request) {
  request.input_grads[0] =
      request.graph.apply1(kGrad, {request.output_grads[0], request.op.outputs[0]});
}

constexpr OpDef binary(const char* name, decltype(OpDef::infer) infer, decltype(OpDef::vjp) vjp,
                       decltype(OpDef::work) work_rule) {
  return {.name = name,
          .infer = infer,
          .vjp = vjp,
          .work = work_rule,
          .in_place = kEither,
          .any_layout = kEither};
}

constexpr OpDef unary(const char* name, decltype(OpDef::infer) infer, decltype(OpDef::vjp) vjp,
                      decltype(OpDef::work) work_rule) {
  OpDef def = binary(name, infer, vjp, work_rule);
  def.in_place = kFirst;
  def.any_layout = kFirst;
  return def;
}

}  // namespace

extern constexpr OpDef Add = binary(kAdd, infer_binary<kAdd>, vjp_add, work<1>);
extern constexpr OpDef Sub = binary(kSub, infer_binary<kSub>, vjp_sub, work<1>);
extern constexpr OpDef Mul = binary(kMul, infer_binary<kMul>, vjp_mul, work<1>);
// In one piece: clang 14 changes no alternative of a variant in a constant expression.
extern constexpr OpDef Scale = {.name = kScale,
                                .infer = infer_scale,
                                .vjp = vjp_scale,
                                .work = work<1>,
                                .attrs = ScaleAttrs{},
                                .in_place = kFirst,
                                .any_layout = kFirst};

extern constexpr OpDef Relu =
    unary(kRelu, infer_unary<kRelu>, vjp_from_output<OpKind::ReluGrad>, work<1>);
extern constexpr OpDef Tanh =
    unary(kTanh, infer_unary<kTanh>, vjp_from_output<OpKind::TanhGrad>, work<1>);
extern constexpr OpDef Sigmoid =
    unary(kSigmoid, infer_unary<kSigmoid>, vjp_from_output<OpKind::SigmoidGrad>, work<3>);

// Gradients take (dy, y), y being the output of the forward op.
extern constexpr OpDef ReluGrad = binary(kReluGrad, infer_binary<kReluGrad>, nullptr, work<1>);
extern constexpr OpDef TanhGrad = binary(kTanhGrad, infer_binary<kTanhGrad>, nullptr, work<3>);
extern constexpr OpDef SigmoidGrad =
    binary(kSigmoidGrad, infer_binary<kSigmoidGrad>, nullptr, work<3>);

}  // namespace stepscope::defs
