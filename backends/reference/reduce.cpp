// ReduceSum and Broadcast along one axis: x is {outer, D, inner} around it.
// SPDX-License-Identifier: Apache-2.0
#include "backends/reference/kernel.h"

namespace stepscope::reference {
namespace {

std::int64_t product(const Shape& shape, std::size_t from, std::size_t to) {
  std::int64_t elements = 1;
  for (std::size_t axis = from; axis < to; ++axis) elements *= shape[axis];
  return elements;
}

}  // namespace

// x {outer, D, inner} -> y {outer, inner}
template <class T>
void ReduceSum(const Call<T>& call) {
  const auto axis = static_cast<std::size_t>(call.template attrs<ReduceAttrs>().axis);
  const Shape& shape = call.in_shape(0);
  const std::int64_t D = shape[axis];
  const std::int64_t inner = product(shape, axis + 1, shape.rank());
  const T* x = call.in(0);
  T* y = call.out(0);
  for (std::int64_t i = 0; i < call.out_shape(0).elements(); ++i) {
    double sum = 0.0;
    for (std::int64_t d = 0; d < D; ++d) sum += x[(i / inner * D + d) * inner + i % inner];
    y[i] = static_cast<T>(sum);
  }
}
STEPSCOPE_REFERENCE_KERNEL(ReduceSum)

// x {outer, inner} -> y {outer, D, inner}
template <class T>
void Broadcast(const Call<T>& call) {
  const auto [axis, D] = call.template attrs<BroadcastAttrs>();
  const std::int64_t inner =
      product(call.in_shape(0), static_cast<std::size_t>(axis), call.in_shape(0).rank());
  const T* x = call.in(0);
  T* y = call.out(0);
  for (std::int64_t i = 0; i < call.out_shape(0).elements(); ++i) {
    y[i] = x[i / (D * inner) * inner + i % inner];
  }
}
STEPSCOPE_REFERENCE_KERNEL(Broadcast)

}  // namespace stepscope::reference
