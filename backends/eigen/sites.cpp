// Shapes and attributes, read.
// SPDX-License-Identifier: Apache-2.0
#include "backends/eigen/sites.h"

#include <variant>

#include "ops/base/check.h"
#include "ops/ir/op_def.h"

namespace stepscope::eigen {
namespace {

std::int64_t product(const Shape& shape, std::size_t from, std::size_t to) {
  std::int64_t elements = 1;
  for (std::size_t axis = from; axis < to; ++axis) elements *= shape[axis];
  return elements;
}

Axis around(const Shape& shape, std::int64_t axis) {
  const auto at = static_cast<std::size_t>(axis);
  return {product(shape, 0, at), shape[at], product(shape, at + 1, shape.rank())};
}

std::int64_t elements_of(const OpSite& site) { return site.out[0].shape.elements(); }

}  // namespace

template <>
Product numbers_of<Product>(const OpSite& site, int threads) {
  const auto [transpose_a, transpose_b, activation] = std::get<MatMulAttrs>(site.attrs);
  const Shape& c = site.out[0].shape;
  return {c[0], c[1], site.in[0].shape[transpose_a ? 0 : 1], transpose_a, transpose_b, threads};
}

template <>
Elements numbers_of<Elements>(const OpSite& site, int) {
  return {elements_of(site)};
}

template <>
Scaled numbers_of<Scaled>(const OpSite& site, int) {
  const auto* scale = std::get_if<ScaleAttrs>(&site.attrs);
  const double factor = scale != nullptr ? scale->factor : std::get<FillAttrs>(site.attrs).value;
  return {elements_of(site), static_cast<float>(factor)};
}

// AddBias adds along the channels of x, ReduceSum removes an axis of x, Broadcast inserts one into
// y.
template <>
Axis numbers_of<Axis>(const OpSite& site, int) {
  if (const auto* reduce = std::get_if<ReduceAttrs>(&site.attrs)) {
    return around(site.in[0].shape, reduce->axis);
  }
  if (const auto* broadcast = std::get_if<BroadcastAttrs>(&site.attrs)) {
    return around(site.out[0].shape, broadcast->axis);
  }
  return around(site.in[0].shape, 1);
}

// The parameters are the first inputs.
template <>
Update numbers_of<Update>(const OpSite& site, int) {
  Update numbers{};
  if (const auto* sgd = std::get_if<SgdAttrs>(&site.attrs)) {
    numbers.tensors = static_cast<int>(sgd->tensors);
    numbers.advance_step = sgd->advance_step;
    numbers.scaled_gradient = sgd->scaled_gradient;
  } else {
    const auto& momentum = std::get<MomentumAttrs>(site.attrs);
    numbers.tensors = static_cast<int>(momentum.tensors);
    numbers.advance_step = momentum.advance_step;
    numbers.mu = static_cast<float>(momentum.mu);
  }
  for (int t = 0; t < numbers.tensors; ++t) {
    numbers.elements[t] = site.in[static_cast<std::size_t>(t)].shape.elements();
  }
  return numbers;
}

std::optional<cpu::Body> activation_of(Activation activation, const TensorType& y, cpu::Isa isa) {
  const auto body = [&](OpKind kind) { return cpu::make_body({kind, {}, {y}, {y}}, isa); };
  switch (activation) {
    case Activation::none:
      break;
    case Activation::relu:
      return body(OpKind::Relu);
    case Activation::tanh:
      return body(OpKind::Tanh);
    case Activation::sigmoid:
      return body(OpKind::Sigmoid);
  }
  return std::nullopt;
}

void check_types(const OpSite& site) {
  const auto check_each = [&site](const std::vector<TensorType>& types) {
    for (const TensorType& type : types) {
      check(type.layout == LayoutId::row_major, Fault::unsupported,
            "eigen: {} on layout {}, only row-major is", name(site.kind),
            static_cast<int>(type.layout));
      check(type.dtype == DType::f32 || type.dtype == DType::i32 || type.dtype == DType::u8 ||
                site.kind == OpKind::Cast,
            Fault::unsupported, "eigen: {} on {}, only f32 is; take the reference backend",
            name(site.kind), name(type.dtype));
    }
  };
  check_each(site.in);
  check_each(site.out);
}

}  // namespace stepscope::eigen
