// Element types, shapes and tensor types: plain values without strides.
// Images are {N, C, H, W} at op boundaries. Refuses dynamic shapes: a dimension is a number.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <span>
#include <string>
#include <string_view>

namespace stepscope {

enum class DType : std::uint8_t { f64, f32, bf16, f16, i32, u8 };

inline constexpr std::array kDTypes = {DType::f64, DType::f32, DType::bf16,
                                       DType::f16, DType::i32, DType::u8};

std::string_view name(DType dtype);
// Throws bad_input for an unknown name, with the nearest.
DType dtype_from(std::string_view text);
std::size_t bytes_per_element(DType dtype);
bool is_floating(DType dtype);

// At most six dimensions, in place: shapes are compared and hashed on hot paths.
// Rank 0 is a scalar with one element. A dimension may be zero only before check_type() saw it.
class Shape {
 public:
  static constexpr std::size_t kMaxRank = 6;

  Shape() = default;
  // Both throw bad_graph when there are more than kMaxRank dimensions.
  Shape(std::initializer_list<std::int64_t> dims);
  explicit Shape(std::span<const std::int64_t> dims);

  std::size_t rank() const { return rank_; }
  std::int64_t operator[](std::size_t axis) const { return dims_[axis]; }
  std::span<const std::int64_t> dims() const { return {dims_.data(), rank_}; }
  // Product of the dimensions; 1 for a scalar.
  std::int64_t elements() const;

  friend bool operator==(const Shape&, const Shape&) = default;

 private:
  std::array<std::int64_t, kMaxRank> dims_{};  // unused places stay zero, so == may compare all
  std::uint8_t rank_ = 0;
};

// Layouts have numbers below this; keys count on it.
inline constexpr std::size_t kMostLayouts = 1024;

// How the elements of a tensor lie in memory. Row-major unless a backend asked for another layout
// (graph/plan/layout.h): other numbers mean what that backend says they mean. What enters and
// leaves a step is row-major.
enum class LayoutId : std::uint16_t { row_major = 0 };

struct TensorType {
  Shape shape;
  DType dtype = DType::f32;
  LayoutId layout = LayoutId::row_major;

  // Of a row-major tensor; another layout may take more (Needs::output_bytes in graph/plan/plan.h).
  std::size_t bytes() const {
    return static_cast<std::size_t>(shape.elements()) * bytes_per_element(dtype);
  }
  friend bool operator==(const TensorType&, const TensorType&) = default;
};

// What one process can address on x86-64; so a dimension has at most 47 bits, and keys count on it.
inline constexpr std::int64_t kMostBytes = std::int64_t{1} << 47;

// Throws bad_graph when a dimension is below one, the bytes exceed kMostBytes or the layout is not
// below kMostLayouts; `who` starts the message.
void check_type(const TensorType& type, std::string_view who);

std::string to_string(const Shape& shape);      // {32, 784}
std::string to_string(const TensorType& type);  // f32{32, 784}; with a layout f32{1, 8, 4, 4}@16

}  // namespace stepscope
