// Shapes and attributes, read.
// SPDX-License-Identifier: Apache-2.0
#include "backends/cuda/own_numbers.h"

#include <limits>
#include <variant>

#include "backends/api/chain_steps.h"
#include "backends/cuda/build.h"
#include "backends/cuda/site_types.h"
#include "ops/base/check.h"
#include "ops/ir/op_def.h"

namespace stepscope::cuda {
namespace {

std::uint32_t narrow(std::int64_t count) { return static_cast<std::uint32_t>(count); }

std::int64_t product(const Shape& shape, std::size_t from, std::size_t to) {
  std::int64_t elements = 1;
  for (std::size_t axis = from; axis < to; ++axis) elements *= shape[axis];
  return elements;
}

Axis around(const Shape& shape, std::int64_t axis) {
  const auto at = static_cast<std::size_t>(axis);
  return {narrow(product(shape, 0, at)), narrow(shape[at]),
          narrow(product(shape, at + 1, shape.rank()))};
}

Number number_of(DType dtype) {
  switch (dtype) {
    case DType::f64:
      return Number::f64;
    case DType::i32:
      return Number::i32;
    case DType::u8:
      return Number::u8;
    default:
      return Number::f32;  // check_operands() let no other type through
  }
}

// The parameters are the first inputs.
template <class UpdateAttrs>
Update update_from(const OpSite& site, const UpdateAttrs& attrs) {
  check(attrs.tensors <= kMaxTensors, Fault::unsupported, "{}: {} of {} tensors, at most {} are",
        kBuild.name, name(site.kind), attrs.tensors, kMaxTensors);
  Update numbers{};
  numbers.tensors = static_cast<int>(attrs.tensors);
  numbers.advance_step = attrs.advance_step;
  for (int t = 0; t < numbers.tensors; ++t) {
    numbers.elements[t] = narrow(site.in[static_cast<std::size_t>(t)].shape.elements());
  }
  return numbers;
}

// Where the partial sums of a tile and a share lie is an index of 32 bits as well.
void check_partials(const SmallUpdate& numbers) {
  constexpr std::uint64_t kMost = std::numeric_limits<std::uint32_t>::max();
  const std::uint64_t partials = numbers.partial_bytes() / sizeof(float);
  check(partials <= kMost, Fault::unsupported,
        "{}: MatMulSgdUpdate of {{{}, {}}} with sums of {}: {} tiles of {} shares make {} partial "
        "sums, at most {} are",
        kBuild.name, numbers.M, numbers.N, numbers.K, numbers.tiles, numbers.shares, partials,
        kMost);
}

}  // namespace

void check_operands(const OpSite& site) {
  constexpr std::int64_t kMost = std::numeric_limits<std::int32_t>::max();
  check_types(site);
  for (const auto* types : {&site.in, &site.out}) {
    for (const TensorType& type : *types) {
      check(type.shape.elements() <= kMost, Fault::unsupported,
            "{}: {} on {} elements, at most {} are", kBuild.name, name(site.kind),
            type.shape.elements(), kMost);
    }
  }
}

Elements elements_of(const OpSite& site) { return {narrow(site.out[0].shape.elements())}; }

Scaled scaled_of(const OpSite& site) {
  const auto* scale = std::get_if<ScaleAttrs>(&site.attrs);
  const double factor = scale != nullptr ? scale->factor : std::get<FillAttrs>(site.attrs).value;
  return {elements_of(site).elements, static_cast<float>(factor)};
}

// ReduceSum removes an axis of x, Broadcast inserts one into y, biases lie along the channels of x.
Axis axis_of(const OpSite& site) {
  if (const auto* reduce = std::get_if<ReduceAttrs>(&site.attrs)) {
    return around(site.in[0].shape, reduce->axis);
  }
  if (const auto* broadcast = std::get_if<BroadcastAttrs>(&site.attrs)) {
    return around(site.out[0].shape, broadcast->axis);
  }
  return around(site.in[0].shape, 1);
}

// The third input, where there is one, is d_loss or the rate.
Rows rows_of(const OpSite& site) {
  const Shape& shape = site.in[0].shape;
  return rows_of(narrow(shape[0]), narrow(shape[1]), site.in.size() == 3);
}

// Rows of the table: what is gathered from, or what comes out.
Indexed indexed_of(const OpSite& site) {
  const Shape& table = (site.kind == OpKind::Gather ? site.in : site.out)[0].shape;
  const Shape& rows = site.in[0].shape;
  const Indexed numbers = {narrow(site.in[1].shape[0]), narrow(table[0]),
                           narrow(product(rows, 1, rows.rank()))};
  constexpr std::uint32_t kMostColumns = 65535U * kScatterColumns;  // blocks of a grid's y
  check(site.kind == OpKind::Gather || numbers.row <= kMostColumns, Fault::unsupported,
        "{}: ScatterAdd of rows of {} elements, at most {} are", kBuild.name, numbers.row,
        kMostColumns);
  return numbers;
}

Chain chain_of(const OpSite& site) {
  const auto& attrs = std::get<ChainAttrs>(site.attrs);
  Chain numbers{};
  numbers.elements = elements_of(site).elements;
  numbers.count = static_cast<int>(attrs.count);
  numbers.inputs = static_cast<int>(site.in.size());
  loop_steps_of(attrs, kBuild.name, numbers.steps);
  return numbers;
}

Casting casting_of(const OpSite& site) {
  return {elements_of(site).elements, number_of(site.in[0].dtype), number_of(site.out[0].dtype)};
}

Update update_of(const OpSite& site) {
  if (const auto* sgd = std::get_if<SgdAttrs>(&site.attrs)) {
    Update numbers = update_from(site, *sgd);
    numbers.scaled_gradient = sgd->scaled_gradient;
    return numbers;
  }
  if (const auto* momentum = std::get_if<MomentumAttrs>(&site.attrs)) {
    Update numbers = update_from(site, *momentum);
    numbers.mu = static_cast<float>(momentum->mu);
    return numbers;
  }
  const auto& adam = std::get<AdamAttrs>(site.attrs);
  Update numbers = update_from(site, adam);
  numbers.beta1 = adam.beta1;
  numbers.beta2 = adam.beta2;
  numbers.epsilon = static_cast<float>(adam.epsilon);
  return numbers;
}

ScheduleNumbers schedule_of(const OpSite& site) {
  return schedule_numbers(std::get<ScheduleAttrs>(site.attrs));
}

// W, a, b, the parameters; K lies where a has it.
SmallUpdate small_update_of(const OpSite& site) {
  const auto& attrs = std::get<SmallUpdateAttrs>(site.attrs);
  SmallUpdate numbers{};
  numbers.M = narrow(site.in[0].shape[0]);
  numbers.N = narrow(site.in[0].shape[1]);
  numbers.K = narrow(site.in[1].shape[attrs.transpose_a ? 0 : 1]);
  numbers.transpose_a = attrs.transpose_a;
  numbers.transpose_b = attrs.transpose_b;
  numbers.bias = attrs.bias;
  numbers.advance_step = attrs.advance_step;
  check(attrs.tensors <= kMaxTensors, Fault::unsupported, "{}: {} of {} tensors, at most {} are",
        kBuild.name, name(site.kind), attrs.tensors, kMaxTensors);
  numbers.tensors = static_cast<int>(attrs.tensors);
  for (int t = 0; t < numbers.tensors; ++t) {
    numbers.elements[t] = narrow(site.in[static_cast<std::size_t>(3 + t)].shape.elements());
  }
  numbers = dealt_out(numbers);
  check_partials(numbers);
  return numbers;
}

}  // namespace stepscope::cuda
