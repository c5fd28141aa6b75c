// Shapes and types: sizes, checks, text.
// SPDX-License-Identifier: Apache-2.0
#include "ops/ir/types.h"

#include <algorithm>
#include <vector>

#include "ops/base/check.h"
#include "ops/base/nearest.h"

namespace stepscope {

std::string_view name(DType dtype) {
  switch (dtype) {
    case DType::f64:
      return "f64";
    case DType::f32:
      return "f32";
    case DType::bf16:
      return "bf16";
    case DType::f16:
      return "f16";
    case DType::i32:
      return "i32";
    case DType::u8:
      return "u8";
  }
  return "?";
}

DType dtype_from(std::string_view text) {
  std::vector<std::string> names;
  for (const DType dtype : kDTypes) {
    if (name(dtype) == text) return dtype;
    names.emplace_back(name(dtype));
  }
  fail(Fault::bad_input, "{}", unknown_name("element type", text, names));
}

std::size_t bytes_per_element(DType dtype) {
  switch (dtype) {
    case DType::f64:
      return 8;
    case DType::f32:
      return 4;
    case DType::bf16:
      return 2;
    case DType::f16:
      return 2;
    case DType::i32:
      return 4;
    case DType::u8:
      return 1;
  }
  return 0;
}

bool is_floating(DType dtype) { return dtype != DType::i32 && dtype != DType::u8; }

Shape::Shape(std::initializer_list<std::int64_t> dims)
    : Shape(std::span<const std::int64_t>(dims.begin(), dims.size())) {}

Shape::Shape(std::span<const std::int64_t> dims) {
  check(dims.size() <= kMaxRank, Fault::bad_graph,
        "shape has {} dimensions, at most {} are allowed", dims.size(), kMaxRank);
  std::copy(dims.begin(), dims.end(), dims_.begin());
  rank_ = static_cast<std::uint8_t>(dims.size());
}

std::int64_t Shape::elements() const {
  std::int64_t product = 1;
  for (std::size_t axis = 0; axis < rank_; ++axis) product *= dims_[axis];
  return product;
}

void check_type(const TensorType& type, std::string_view who) {
  std::int64_t room = kMostBytes / static_cast<std::int64_t>(bytes_per_element(type.dtype));
  for (std::size_t axis = 0; axis < type.shape.rank(); ++axis) {
    const std::int64_t dim = type.shape[axis];
    // Asked of every value of every graph: the text is made on the way out only.
    if (dim < 1) {
      fail(Fault::bad_graph, "{}: dimension {} of {} is below one", who, axis, to_string(type));
    }
    if (dim > room) fail(Fault::bad_graph, "{}: {} has more than 2^47 bytes", who, to_string(type));
    room /= dim;
  }
  if (static_cast<std::size_t>(type.layout) >= kMostLayouts) {
    fail(Fault::bad_graph, "{}: {} has a layout that is not below {}", who, to_string(type),
         kMostLayouts);
  }
}

std::string to_string(const Shape& shape) {
  return fmt::format("{{{}}}", fmt::join(shape.dims(), ", "));
}

std::string to_string(const TensorType& type) {
  std::string text = fmt::format("{}{}", name(type.dtype), to_string(type.shape));
  if (type.layout != LayoutId::row_major) text += fmt::format("@{}", static_cast<int>(type.layout));
  return text;
}

}  // namespace stepscope
