// Attributes as key words and as text, both from the structs' own lists of fields.
// SPDX-License-Identifier: Apache-2.0
#include "ops/ir/attrs.h"

#include <fmt/format.h>

#include <bit>
#include <string_view>
#include <type_traits>

namespace stepscope {
namespace {

struct WordWriter {
  std::uint64_t* out;

  void operator()(std::string_view, bool value) { *out++ = value ? 1 : 0; }
  void operator()(std::string_view, double value) { *out++ = std::bit_cast<std::uint64_t>(value); }
  void operator()(std::string_view, std::int64_t value) {
    *out++ = static_cast<std::uint64_t>(value);
  }
  void operator()(std::string_view, const TensorType& type) {
    *out++ = static_cast<std::uint64_t>(type.dtype) << 8 | type.shape.rank();
    for (const std::int64_t dim : type.shape.dims()) *out++ = static_cast<std::uint64_t>(dim);
  }
};

struct TextWriter {
  std::string text;

  void add(std::string_view field, std::string_view value) {
    text += fmt::format("{}{} = {}", text.empty() ? "" : ", ", field, value);
  }
  void operator()(std::string_view field, bool value) { add(field, value ? "true" : "false"); }
  void operator()(std::string_view field, double value) { add(field, fmt::format("{}", value)); }
  void operator()(std::string_view field, std::int64_t value) { add(field, fmt::to_string(value)); }
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
