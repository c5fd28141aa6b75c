// Numbers of a step file that may hold the batch: 784, B, 1/B/784. Factors joined by * and /, taken
// from left to right; no parentheses.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "ops/ir/types.h"

namespace stepscope {

// Where something stands in a text, counted from 1; columns are bytes.
struct Place {
  std::int32_t line = 0;
  std::int32_t column = 0;
};

// Throws bad_input: `WHO:LINE:COLUMN: message`.
[[noreturn]] void fail_at(std::string_view who, Place place, std::string_view message);

struct Factor {
  enum class Kind : std::uint8_t { whole, real, batch };
  Kind kind = Kind::whole;
  bool divides = false;    // never the first
  std::int64_t whole = 1;  // of whole numbers that 64 bits hold
  double real = 1.0;       // of all others
};

struct Expression {
  std::vector<Factor> factors;
  Place place;

  bool has_batch() const;
};

Expression expression_of(std::int64_t whole);

// No whole number of a step file is larger, nor below its negative: shape rules may add a few of
// them. It is what one tensor has bytes at most.
inline constexpr std::int64_t kLargestWhole = kMostBytes;

// The value at that batch. Both throw bad_input at the expression's place when the batch is needed
// and missing; whole_value also when the result is not whole or above kLargestWhole in size.
double real_value(const Expression& expression, std::optional<std::int64_t> batch,
                  std::string_view who);
std::int64_t whole_value(const Expression& expression, std::optional<std::int64_t> batch,
                         std::string_view who);

std::string to_string(const Expression& expression);  // 1/B/784

// A tensor type whose dimensions may hold the batch.
struct TypeText {
  DType dtype = DType::f32;
  std::vector<Expression> dims;  // Shape::kMaxRank at most
  LayoutId layout = LayoutId::row_major;
  Place place;

  bool has_batch() const;
};

TypeText type_text_of(const TensorType& type);
Shape shape_value(const std::vector<Expression>& dims, std::optional<std::int64_t> batch,
                  std::string_view who);
TensorType type_value(const TypeText& type, std::optional<std::int64_t> batch,
                      std::string_view who);

std::string to_string(const std::vector<Expression>& dims);  // {B, 784}
std::string to_string(const TypeText& type);                 // f32{B, 784}

}  // namespace stepscope
