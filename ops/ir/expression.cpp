// Values of expressions: whole numbers exactly, as a quotient of two products; others in double.
// SPDX-License-Identifier: Apache-2.0
#include "ops/ir/expression.h"

#include <algorithm>

#include "ops/base/check.h"

namespace stepscope {
namespace {

std::int64_t batch_of(const Expression& expression, std::optional<std::int64_t> batch,
                      std::string_view who) {
  if (!batch) fail_at(who, expression.place, "B, the batch, may not stand here");
  return *batch;
}

void multiply(std::int64_t& product, std::int64_t factor, const Expression& expression,
              std::string_view who) {
  if (__builtin_mul_overflow(product, factor, &product)) {
    fail_at(who, expression.place,
            fmt::format("{} does not fit 64 bits on the way", to_string(expression)));
  }
}

}  // namespace

void fail_at(std::string_view who, Place place, std::string_view message) {
  fail(Fault::bad_input, "{}:{}:{}: {}", who, place.line, place.column, message);
}

bool Expression::has_batch() const {
  return std::any_of(factors.begin(), factors.end(),
                     [](const Factor& each) { return each.kind == Factor::Kind::batch; });
}

bool TypeText::has_batch() const {
  return std::any_of(dims.begin(), dims.end(),
                     [](const Expression& each) { return each.has_batch(); });
}

Expression expression_of(std::int64_t whole) { return {{Factor{.whole = whole}}, {}}; }

double real_value(const Expression& expression, std::optional<std::int64_t> batch,
                  std::string_view who) {
  double value = 1.0;
  for (std::size_t i = 0; i < expression.factors.size(); ++i) {
    const Factor& factor = expression.factors[i];
    double number = factor.real;
    if (factor.kind == Factor::Kind::whole) number = static_cast<double>(factor.whole);
    if (factor.kind == Factor::Kind::batch) {
      number = static_cast<double>(batch_of(expression, batch, who));
    }
    if (i == 0) {
      value = number;
    } else {
      value = factor.divides ? value / number : value * number;
    }
  }
  return value;
}

std::int64_t whole_value(const Expression& expression, std::optional<std::int64_t> batch,
                         std::string_view who) {
  std::int64_t above = 1;
  std::int64_t below = 1;
  for (const Factor& factor : expression.factors) {
    if (factor.kind == Factor::Kind::real) {
      fail_at(who, expression.place,
              fmt::format("{} is not whole, expected a whole number", to_string(expression)));
    }
    const std::int64_t number =
        factor.kind == Factor::Kind::batch ? batch_of(expression, batch, who) : factor.whole;
    multiply(factor.divides ? below : above, number, expression, who);
  }
  const std::string at = expression.has_batch() ? fmt::format(" at B = {}", *batch) : std::string();
  if (below == 0) {
    fail_at(who, expression.place, fmt::format("{} divides by zero", to_string(expression)));
  }
  // Dividing the smallest number by -1 would not fit.
  const std::int64_t value =
      below == -1 ? (above == INT64_MIN ? INT64_MAX : -above) : above / below;
  if (below != -1 && above % below != 0) {
    fail_at(who, expression.place,
            fmt::format("{} is not whole{}, expected a whole number", to_string(expression), at));
  }
  if (value > kLargestWhole || value < -kLargestWhole) {
    fail_at(who, expression.place,
            fmt::format("{} is {}{}, expected at most {} in size", to_string(expression), value, at,
                        kLargestWhole));
  }
  return value;
}

std::string to_string(const Expression& expression) {
  std::string text;
  for (const Factor& factor : expression.factors) {
    if (!text.empty()) text += factor.divides ? '/' : '*';
    switch (factor.kind) {
      case Factor::Kind::whole:
        text += fmt::to_string(factor.whole);
        break;
      case Factor::Kind::real:
        text += fmt::format("{}", factor.real);
        break;
      case Factor::Kind::batch:
        text += 'B';
        break;
    }
  }
  return text;
}

TypeText type_text_of(const TensorType& type) {
  TypeText text{type.dtype, {}, type.layout, {}};
  text.dims.reserve(type.shape.rank());
  for (const std::int64_t dim : type.shape.dims()) text.dims.push_back(expression_of(dim));
  return text;
}

Shape shape_value(const std::vector<Expression>& dims, std::optional<std::int64_t> batch,
                  std::string_view who) {
  std::vector<std::int64_t> values;
  for (const Expression& dim : dims) {
    const std::int64_t value = whole_value(dim, batch, who);
    if (value < 1) {
      fail_at(who, dim.place, fmt::format("a dimension of {}, expected 1 or more", value));
    }
    values.push_back(value);
  }
  return Shape(values);
}

TensorType type_value(const TypeText& type, std::optional<std::int64_t> batch,
                      std::string_view who) {
  return {shape_value(type.dims, batch, who), type.dtype, type.layout};
}

std::string to_string(const std::vector<Expression>& dims) {
  std::string text = "{";
  for (const Expression& dim : dims) {
    if (text.size() > 1) text += ", ";
    text += to_string(dim);
  }
  return text + "}";
}

std::string to_string(const TypeText& type) {
  std::string text = fmt::format("{}{}", name(type.dtype), to_string(type.dims));
  if (type.layout != LayoutId::row_major) text += fmt::format("@{}", static_cast<int>(type.layout));
  return text;
}

}  // namespace stepscope
