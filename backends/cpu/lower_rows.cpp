// Sums, broadcasts, rows that are classified, and rows taken by index.
// SPDX-License-Identifier: Apache-2.0
#include <variant>

#include "backends/cpu/lower.h"
#include "ops/base/check.h"
#include "ops/ir/op_def.h"

namespace stepscope::cpu {
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

// Removes an axis of x.
Body reduce_sum(const OpSite& site, const Table& table) {
  check_f32(site);
  check_row_major(site);
  const auto axis = std::get<ReduceAttrs>(site.attrs).axis;
  return {table.ReduceSum, {.axis = around(site.in[0].shape, axis)}, {}};
}

// Inserts an axis into y.
Body broadcast(const OpSite& site, const Table& table) {
  check_f32(site);
  check_row_major(site);
  const auto axis = std::get<BroadcastAttrs>(site.attrs).axis;
  return {table.Broadcast, {.axis = around(site.out[0].shape, axis)}, {}};
}

Body add_bias(const OpSite& site, const Table& table) {
  check_f32(site);
  return {table.AddBias, {.blocked = blocked(site.in[0])}, {.in_place = 0b1}};
}

Body bias_grad(const OpSite& site, const Table& table) {
  check_f32(site);
  return {table.BiasGrad, {.blocked = blocked(site.in[0])}, {}};
}

// kOperands: inputs when there is a d_loss or a rate among them.
template <Function Table::*kFunction, std::size_t kOperands, std::uint32_t kInPlace>
Body rows(const OpSite& site, const Table& table) {
  check_f32(site);
  check_row_major(site);
  const Shape& shape = site.in[0].shape;
  return {table.*kFunction,
          {.rows = {shape[0], shape[1], site.in.size() == kOperands}},
          {.in_place = kInPlace}};
}

Indexed indexed(const TensorType& tensor, std::int64_t N, std::int64_t rows) {
  const std::int64_t row = product(tensor.shape, 1, tensor.shape.rank());
  return {N, rows, row, static_cast<std::size_t>(row) * bytes_per_element(tensor.dtype)};
}

Body gather(const OpSite& site, const Table& table) {
  check_row_major(site);
  const TensorType& rows = site.in[0];
  return {table.Gather, {.indexed = indexed(rows, site.in[1].shape[0], rows.shape[0])}, {}};
}

Body scatter_add(const OpSite& site, const Table& table) {
  check_f32(site);
  check_row_major(site);
  return {table.ScatterAdd,
          {.indexed = indexed(site.in[0], site.in[1].shape[0], site.out[0].shape[0])},
          {}};
}

}  // namespace

Lower lower_rows(OpKind kind) {
  switch (kind) {
    case OpKind::ReduceSum:
      return reduce_sum;
    case OpKind::Broadcast:
      return broadcast;
    case OpKind::AddBias:
      return add_bias;
    case OpKind::BiasGrad:
      return bias_grad;
    case OpKind::SoftmaxCrossEntropy:
      return rows<&Table::SoftmaxCrossEntropy, 0, 0b00>;
    case OpKind::SoftmaxCrossEntropyGrad:
      return rows<&Table::SoftmaxCrossEntropyGrad, 3, 0b001>;
    case OpKind::SoftmaxCrossEntropyWithGrad:
      return rows<&Table::SoftmaxCrossEntropyWithGrad, 3, 0b00>;
    case OpKind::Argmax:
      return rows<&Table::Argmax, 0, 0b00>;
    case OpKind::CorrectCount:
      return rows<&Table::CorrectCount, 0, 0b00>;
    case OpKind::Gather:
      return gather;
    case OpKind::ScatterAdd:
      return scatter_add;
    default:
      return nullptr;
  }
}

}  // namespace stepscope::cpu
