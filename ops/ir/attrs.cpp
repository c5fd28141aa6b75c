// Attributes as key words and as text, both from the structs' own lists of fields.
// SPDX-License-Identifier: Apache-2.0
#include "ops/ir/attrs.h"

#include <fmt/format.h>

#include <bit>
#include <string_view>
#include <type_traits>

#include "ops/ir/op_def.h"

namespace stepscope {
namespace {

struct WordWriter {
  std::uint64_t* out;

  void operator()(std::string_view, bool value) { *out++ = value ? 1 : 0; }
  void operator()(std::string_view, double value) { *out++ = std::bit_cast<std::uint64_t>(value); }
  void operator()(std::string_view, std::int64_t value) {
    *out++ = static_cast<std::uint64_t>(value);
  }
  void operator()(std::string_view, Activation value) {
    *out++ = static_cast<std::uint64_t>(value);
  }
  void operator()(std::string_view, LayoutId value) { *out++ = static_cast<std::uint64_t>(value); }
  void operator()(std::string_view, DType value) { *out++ = static_cast<std::uint64_t>(value); }
  void operator()(std::string_view field, const ChainStep& step) {
    *out++ = static_cast<std::uint64_t>(step.kind) << 8 | static_cast<std::uint64_t>(step.operands);
    (*this)(field, step.factor);
  }
  void operator()(std::string_view, const TensorType& type) {
    *out++ = static_cast<std::uint64_t>(type.layout) << 16 |
             static_cast<std::uint64_t>(type.dtype) << 8 | type.shape.rank();
    for (const std::int64_t dim : type.shape.dims()) *out++ = static_cast<std::uint64_t>(dim);
  }
};

// Settings that most ops of a kind leave alone.
bool is_optional(std::string_view field) {
  return field == "tensors" || field == "scaled_gradient" || field == "bias_grad";
}

struct TextWriter {
  std::string text;

  void add(std::string_view field, std::string_view value) {
    text += fmt::format("{}{} = {}", text.empty() ? "" : ", ", field, value);
  }
  void operator()(std::string_view field, bool value) {
    if (value || !is_optional(field)) add(field, value ? "true" : "false");
  }
  void operator()(std::string_view field, double value) { add(field, fmt::format("{}", value)); }
  void operator()(std::string_view field, std::int64_t value) {
    if (value != 1 || !is_optional(field)) add(field, fmt::to_string(value));
  }
  void operator()(std::string_view field, Activation value) {
    if (value != Activation::none) add(field, name(value));
  }
  void operator()(std::string_view field, LayoutId value) {
    if (value != LayoutId::row_major) add(field, fmt::to_string(static_cast<int>(value)));
  }
  void operator()(std::string_view field, DType value) { add(field, name(value)); }
  void operator()(std::string_view field, const ChainStep& step) {
    std::string operation(name(step.kind));
    if (step.kind == OpKind::Scale) operation += fmt::format(" {}", step.factor);
    if (step.operands != ChainOperands::current) {
      operation += fmt::format(" {}", name(step.operands));
    }
    add(field, operation);
  }
  void operator()(std::string_view field, const TensorType& type) { add(field, to_string(type)); }
};

template <class Visit>
void visit_fields(const Attrs& attrs, Visit& visitor) {
  std::visit(
      [&visitor](const auto& settings) {
        using Settings = std::remove_cvref_t<decltype(settings)>;
        if constexpr (!std::is_same_v<Settings, std::monostate>) {
          Settings::fields(settings, visitor);
        }
      },
      attrs);
}

}  // namespace

std::string_view name(Activation activation) {
  switch (activation) {
    case Activation::none:
      return "none";
    case Activation::relu:
      return "relu";
    case Activation::tanh:
      return "tanh";
    case Activation::sigmoid:
      return "sigmoid";
  }
  return "?";
}

std::string_view name(ChainOperands operands) {
  switch (operands) {
    case ChainOperands::current:
      return "current";
    case ChainOperands::current_first:
      return "current_first";
    case ChainOperands::current_second:
      return "current_second";
    case ChainOperands::both:
      return "both";
  }
  return "?";
}

std::uint64_t* pack(const Attrs& attrs, std::uint64_t* out) {
  WordWriter writer{out};
  *writer.out++ = attrs.index();
  visit_fields(attrs, writer);
  return writer.out;
}

std::string to_string(const Attrs& attrs) {
  TextWriter writer;
  visit_fields(attrs, writer);
  return writer.text;
}

}  // namespace stepscope
