// Rules of fused ops. What a fused op computes on the way is not there: its value is made here in
// f64, its error by the rule of the plain op. A sum may begin with the bias, or with what is
// updated: then that is one more of its terms.
// SPDX-License-Identifier: Apache-2.0
#include <algorithm>

#include "tests/backends/random/error_sums.h"
#include "tests/backends/random/evaluate.h"
#include "tests/backends/random/terms.h"

namespace stepscope::test::rules {
namespace {

struct Temporary {
  std::vector<double> value;
  std::vector<double> error;
  TensorType type;

  explicit Temporary(const TensorType& of)
      : value(static_cast<std::size_t>(of.shape.elements())), error(value.size()), type(of) {}
  explicit Temporary(const Input& x)
      : value(x.value.begin(), x.value.end()),
        error(x.error.begin(), x.error.end()),
        type(x.type) {}
  Input in() const { return {value, error, {}, type}; }
  Output out() { return {value, error, type, {}}; }
};

// The rule of a plain op.
void apply_plain(OpKind kind, Attrs attrs, std::vector<Input> in, std::vector<Output> out,
                 bool& ambiguous) {
  // Sub tells by its inputs whether it subtracts a value from itself.
  Op op{kind, std::move(attrs), {}, {}, {}};
  for (std::size_t i = 0; i < in.size(); ++i) {
    op.inputs.push_back({in[i].value.data() == in[0].value.data() ? 0 : static_cast<int>(i)});
  }
  apply({op, std::move(in), std::move(out), ambiguous});
}

OpKind kind_of(Activation activation) {
  switch (activation) {
    case Activation::relu:
      return OpKind::Relu;
    case Activation::tanh:
      return OpKind::Tanh;
    default:
      return OpKind::Sigmoid;
  }
}

Activation activation_of(const Attrs& attrs) {
  if (const auto* product = std::get_if<MatMulAttrs>(&attrs)) return product->activation;
  return std::get<Conv2dAttrs>(attrs).activation;
}

// The columns of b, or the channels of dy, summed up.
void column_sums(const Input& x, const Output& out) {
  const bool matrix = x.type.shape.rank() == 2;
  const Op op{matrix ? OpKind::ReduceSum : OpKind::BiasGrad,
              matrix ? Attrs(ReduceAttrs{0}) : Attrs(),
              {},
              {},
              {}};
  set_errors(element_sums(op, x, out.type.shape, {}), out);
}

}  // namespace

// x, w, b -> activation(x w + b)
void product_with_bias(const Call& call) {
  const Shape& shape = call.out[0].type.shape;
  const auto inner = static_cast<std::size_t>(elements_from(shape, 2));
  const auto C = static_cast<std::size_t>(shape[1]);
  auto sums = product_sums(call, 0, shape);
  Temporary z(call.out[0].type);
  for (std::size_t i = 0; i < sums.size(); ++i) {
    sums[i].add(call.in[2], i / inner % C);
    z.value[i] = sums[i].value;
    z.error[i] = sums[i].error();
  }
  const Activation activation = activation_of(call.op.attrs);
  if (activation == Activation::none) {
    std::ranges::copy(z.error, call.out[0].error.begin());
  } else {
    apply_plain(kind_of(activation), {}, {z.in()}, {call.out[0]}, call.ambiguous);
  }
}

// a, b, y -> y <= 0 ? 0 : a b
void gated_product(const Call& call) {
  const auto sums = product_sums(call, 0, call.out[0].type.shape);
  Temporary dy(call.out[0].type);
  for (std::size_t i = 0; i < sums.size(); ++i) {
    dy.value[i] = sums[i].value;
    dy.error[i] = sums[i].error();
  }
  apply_plain(OpKind::ReluGrad, {}, {dy.in(), call.in[2]}, {call.out[0]}, call.ambiguous);
}

// dy, winners, y -> dx
void gated_max_pool_grad(const Call& call) {
  Temporary gated(call.in[0].type);
  for (std::size_t i = 0; i < gated.value.size(); ++i) {
    gated.value[i] = evaluate(OpKind::ReluGrad, 0.0, call.in[0].value[i], call.in[2].value[i]);
  }
  apply_plain(OpKind::ReluGrad, {}, {call.in[0], call.in[2]}, {gated.out()}, call.ambiguous);
  set_errors(element_sums(call.op, gated.in(), call.out[0].type.shape, call.in[1].integers),
             call.out[0]);
}

// a, b -> a b, sums
void product_with_sums(const Call& call) {
  product(call);
  column_sums(call.in[1], call.out[1]);
}

// W, a, b -> W - a b[, sums]
void product_update(const Call& call) {
  auto sums = product_sums(call, 1, call.out[0].type.shape);
  for (std::size_t i = 0; i < sums.size(); ++i) sums[i].add(call.in[0], i);
  set_errors(sums, call.out[0]);
  if (call.out.size() > 1) column_sums(call.in[2], call.out[1]);
}

// logits, labels[, rate] -> loss, d_logits
void loss_with_grad(const Call& call) {
  const Input& logits = call.in[0];
  const auto C = static_cast<std::size_t>(logits.type.shape[1]);
  Temporary probabilities(logits.type);
  for (std::size_t begin = 0; begin < logits.value.size(); begin += C) {
    const auto row = logits.value.subspan(begin, C);
    const double largest = std::ranges::max(row);
    double sum = 0.0;
    for (const double each : row) sum += std::exp(each - largest);
    for (std::size_t c = 0; c < C; ++c) {
      probabilities.value[begin + c] = std::exp(row[c] - largest) / sum;
    }
  }
  apply_plain(OpKind::SoftmaxCrossEntropy, {}, {logits, call.in[1]},
              {call.out[0], probabilities.out()}, call.ambiguous);
  std::vector<Input> in = {probabilities.in(), call.in[1]};
  if (call.in.size() == 3) in.push_back(call.in[2]);
  apply_plain(OpKind::SoftmaxCrossEntropyGrad, {}, std::move(in), {call.out[1]}, call.ambiguous);
}

// Step by step on values of its own.
void pointwise_chain(const Call& call) {
  const auto& chain = std::get<ChainAttrs>(call.op.attrs);
  Temporary current(call.in[0]);
  std::size_t next = 1;
  for (std::size_t s = 0; s < static_cast<std::size_t>(chain.count); ++s) {
    const ChainStep& step = chain.steps[s];
    std::vector<Input> in = {current.in()};
    if (step.operands == ChainOperands::both) in.push_back(current.in());
    if (step.operands == ChainOperands::current_first) in.push_back(call.in[next++]);
    if (step.operands == ChainOperands::current_second) in.insert(in.begin(), call.in[next++]);
    Temporary made(call.out[0].type);
    for (std::size_t i = 0; i < made.value.size(); ++i) {
      made.value[i] = evaluate(step.kind, step.factor, in[0].value[i], in.back().value[i]);
    }
    apply_plain(step.kind, step.kind == OpKind::Scale ? Attrs(ScaleAttrs{step.factor}) : Attrs(),
                in, {made.out()}, call.ambiguous);
    current = std::move(made);
  }
  std::ranges::copy(current.error, call.out[0].error.begin());
}

}  // namespace stepscope::test::rules
