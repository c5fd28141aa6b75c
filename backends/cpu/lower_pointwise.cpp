// Pointwise ops, chains of them, Cast and Reorder.
// SPDX-License-Identifier: Apache-2.0
#include <variant>

#include "backends/api/chain_steps.h"
#include "backends/cpu/layout.h"
#include "backends/cpu/lower.h"
#include "ops/base/check.h"
#include "ops/ir/op_def.h"

namespace stepscope::cpu {
namespace {

// On whatever layout output 0 has; the padding is computed with the rest.
template <Function Table::*kFunction, std::uint32_t kInPlace>
Body pointwise(const OpSite& site, const Table& table) {
  check_f32(site);
  return {table.*kFunction,
          {.elements = {stored_elements(site.out[0]), padding_of(site.out[0])}},
          {.in_place = kInPlace}};
}

Body scale(const OpSite& site, const Table& table) {
  check_f32(site);
  const auto factor = static_cast<float>(std::get<ScaleAttrs>(site.attrs).factor);
  return {table.Scale, {.scaled = {stored_elements(site.out[0]), factor}}, {.in_place = 0b1}};
}

Body fill(const OpSite& site, const Table& table) {
  check_f32(site);
  check_row_major(site);
  const auto value = static_cast<float>(std::get<FillAttrs>(site.attrs).value);
  return {table.Fill, {.scaled = {stored_elements(site.out[0]), value}}, {}};
}

Body chain(const OpSite& site, const Table& table) {
  check_f32(site);
  const auto& attrs = std::get<ChainAttrs>(site.attrs);
  Chain numbers{};
  numbers.elements = stored_elements(site.out[0]);
  numbers.count = static_cast<int>(attrs.count);
  numbers.inputs = static_cast<int>(site.in.size());
  numbers.padding = padding_of(site.out[0]);
  loop_steps_of(attrs, "cpu", numbers.steps);
  return {table.PointwiseChain, {.chain = numbers}, {.in_place = 0b1}};
}

Function cast_function(DType from, DType to, const Table& table) {
#define STEPSCOPE_CPU_CASTS(kind)                         \
  if (from == DType::kind) {                              \
    if (to == DType::f32) return table.Cast_##kind##_f32; \
    if (to == DType::f64) return table.Cast_##kind##_f64; \
    if (to == DType::i32) return table.Cast_##kind##_i32; \
    if (to == DType::u8) return table.Cast_##kind##_u8;   \
  }
  STEPSCOPE_CPU_CASTS(f32)
  STEPSCOPE_CPU_CASTS(f64)
  STEPSCOPE_CPU_CASTS(i32)
  STEPSCOPE_CPU_CASTS(u8)
#undef STEPSCOPE_CPU_CASTS
  fail(Fault::unsupported, "cpu: Cast from {} to {}; f32, f64, i32 and u8 are", name(from),
       name(to));
}

Body cast(const OpSite& site, const Table& table) {
  return {cast_function(site.in[0].dtype, site.out[0].dtype, table),
          {.elements = {stored_elements(site.out[0]), {}}},
          {}};
}

Body reorder(const OpSite& site, const Table& table) {
  const TensorType& x = site.in[0];
  const std::int64_t from = channel_block(x.layout), to = channel_block(site.out[0].layout);
  Reordering numbers{1, 1, 1, from, to, stored_bytes(x)};
  if (from != to) {
    check(x.dtype == DType::f32, Fault::unsupported,
          "cpu: Reorder on {}, only f32 is; take the reference backend", name(x.dtype));
    const Blocked sizes = blocked(x);
    numbers = {sizes.N, sizes.C, sizes.inner, from, to, stored_bytes(x)};
  }
  return {table.Reorder, {.reordering = numbers}, {}};
}

}  // namespace

Lower lower_pointwise(OpKind kind) {
  switch (kind) {
    case OpKind::Add:
      return pointwise<&Table::Add, 0b11>;
    case OpKind::Sub:
      return pointwise<&Table::Sub, 0b11>;
    case OpKind::Mul:
      return pointwise<&Table::Mul, 0b11>;
    case OpKind::Scale:
      return scale;
    case OpKind::Fill:
      return fill;
    case OpKind::Relu:
      return pointwise<&Table::Relu, 0b01>;
    case OpKind::ReluGrad:
      return pointwise<&Table::ReluGrad, 0b11>;
    case OpKind::Tanh:
      return pointwise<&Table::Tanh, 0b01>;
    case OpKind::TanhGrad:
      return pointwise<&Table::TanhGrad, 0b11>;
    case OpKind::Sigmoid:
      return pointwise<&Table::Sigmoid, 0b01>;
    case OpKind::SigmoidGrad:
      return pointwise<&Table::SigmoidGrad, 0b11>;
    case OpKind::PointwiseChain:
      return chain;
    case OpKind::Cast:
      return cast;
    case OpKind::Reorder:
      return reorder;
    default:
      return nullptr;
  }
}

}  // namespace stepscope::cpu
