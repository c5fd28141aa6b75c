// Attributes as key words, as text, and read from text, all from the structs' own lists of fields.
// SPDX-License-Identifier: Apache-2.0
#include "ops/ir/attrs.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <bit>
#include <string_view>
#include <type_traits>

#include "ops/base/nearest.h"
#include "ops/ir/attr_text.h"
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
  void operator()(std::string_view, ScheduleKind value) {
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
  return field == "tensors" || field == "scaled_gradient" || field == "bias_grad" ||
         field == "bias";
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
  void operator()(std::string_view field, ScheduleKind value) { add(field, name(value)); }
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

// Attrs is Attrs or const Attrs.
template <class AnyAttrs, class Visit>
void visit_fields(AnyAttrs& attrs, Visit&& visitor) {
  std::visit(
      [&visitor](auto& settings) {
        using Settings = std::remove_cvref_t<decltype(settings)>;
        if constexpr (!std::is_same_v<Settings, std::monostate>) {
          Settings::fields(settings, visitor);
        }
      },
      attrs);
}

constexpr std::array kActivations = {Activation::none, Activation::relu, Activation::tanh,
                                     Activation::sigmoid};
constexpr std::array kScheduleKinds = {ScheduleKind::constant, ScheduleKind::step,
                                       ScheduleKind::exponential, ScheduleKind::cosine};
constexpr std::array kChainOperands = {ChainOperands::current, ChainOperands::current_first,
                                       ChainOperands::current_second, ChainOperands::both};

// Visits the fields of a struct and sets those that are written.
class AttrReader {
 public:
  AttrReader(std::span<const AttrText> written, std::string_view op,
             std::optional<std::int64_t> batch, std::string_view who)
      : written_(written), used_(written.size()), op_(op), batch_(batch), who_(who) {}

  template <class Value>
  void operator()(std::string_view field, Value& value) {
    if (std::find(fields_.begin(), fields_.end(), field) == fields_.end()) {
      fields_.emplace_back(field);
    }
    for (std::size_t i = 0; i < written_.size(); ++i) {
      if (used_[i] || written_[i].name != field) continue;
      used_[i] = true;
      read(written_[i], value);
      return;
    }
  }

  // What no field took.
  void finish() const {
    for (std::size_t i = 0; i < written_.size(); ++i) {
      if (used_[i]) continue;
      const AttrText& left = written_[i];
      const bool known = std::find(fields_.begin(), fields_.end(), left.name) != fields_.end();
      if (known) {
        fail_at(who_, left.place, fmt::format("{}: '{}' is given once too often", op_, left.name));
      }
      if (left.name == "step" && !fields_.empty() && fields_.front() == "count") {
        fail_at(who_, left.place, fmt::format("{}: more steps than count says", op_));
      }
      fail_at(who_, left.place,
              unknown_name(fmt::format("setting of {}", op_), left.name, fields_));
    }
  }

 private:
  [[noreturn]] void wrong(const AttrText& written, std::string_view expected) const {
    fail_at(who_, written.value_place,
            fmt::format("{}: '{}' is {}, expected {}", op_, written.name, value_text(written),
                        expected));
  }

  const Expression& number(const AttrText& written, std::string_view expected) const {
    if (!written.number || !written.words.empty()) wrong(written, expected);
    return *written.number;
  }

  // A single word that is one of `choices`.
  template <class Choices>
  auto choice(const AttrText& written, std::string_view word, std::string_view kind,
              const Choices& choices) const {
    std::vector<std::string> names;
    for (const auto each : choices) {
      if (name(each) == word) return each;
      names.emplace_back(name(each));
    }
    fail_at(who_, written.value_place, unknown_name(kind, word, names));
  }

  const std::string& word(const AttrText& written, std::string_view expected) const {
    if (written.words.size() != 1 || written.number || written.type) wrong(written, expected);
    return written.words.front();
  }

  bool is_later(const AttrText& written) const { return written.has_batch() && !batch_; }

  void read(const AttrText& written, bool& value) const {
    const std::string& text = word(written, "true or false");
    if (text != "true" && text != "false") wrong(written, "true or false");
    value = text == "true";
  }
  void read(const AttrText& written, double& value) const {
    const Expression& given = number(written, "a number");
    if (!is_later(written)) value = real_value(given, batch_, who_);
  }
  void read(const AttrText& written, std::int64_t& value) const {
    const Expression& given = number(written, "a whole number");
    if (!is_later(written)) value = whole_value(given, batch_, who_);
  }
  void read(const AttrText& written, LayoutId& value) const {
    const Expression& given = number(written, "the number of a layout");
    const std::int64_t layout = whole_value(given, std::nullopt, who_);
    if (layout < 0 || layout >= static_cast<std::int64_t>(kMostLayouts)) {
      wrong(written, fmt::format("0 to {}", kMostLayouts - 1));
    }
    value = static_cast<LayoutId>(layout);
  }
  void read(const AttrText& written, Activation& value) const {
    value = choice(written, word(written, "an activation"), "activation", kActivations);
  }
  void read(const AttrText& written, ScheduleKind& value) const {
    value = choice(written, word(written, "a schedule"), "schedule", kScheduleKinds);
  }
  void read(const AttrText& written, DType& value) const {
    value = choice(written, word(written, "an element type"), "element type", kDTypes);
  }
  void read(const AttrText& written, TensorType& value) const {
    if (!written.type) wrong(written, "a type, as in f32{2, 3}");
    if (!is_later(written)) value = type_value(*written.type, batch_, who_);
  }
  void read(const AttrText& written, ChainStep& value) const {
    if (written.words.empty() || written.words.size() > 2 || written.type) {
      wrong(written, "an op, for Scale its factor, and the operands");
    }
    try {
      value.kind = op_kind(written.words[0]);
    } catch (const Error& error) {
      fail_at(who_, written.value_place, error.what());
    }
    if ((value.kind == OpKind::Scale) != written.number.has_value()) {
      wrong(written, "a factor for Scale, and for no other op");
    }
    if (written.number) value.factor = real_value(*written.number, std::nullopt, who_);
    if (written.words.size() == 2) {
      value.operands = choice(written, written.words[1], "operands", kChainOperands);
    }
  }

  std::span<const AttrText> written_;
  std::vector<bool> used_;
  std::string_view op_;
  std::optional<std::int64_t> batch_;
  std::string_view who_;
  std::vector<std::string> fields_;  // that the struct has
};

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

std::string to_string(const Attrs& attrs) { return to_string(attrs, {}); }

std::string to_string(const Attrs& attrs, std::span<const AttrText> symbolic) {
  TextWriter writer;
  visit_fields(attrs, [&](std::string_view field, const auto& value) {
    const auto at = std::find_if(symbolic.begin(), symbolic.end(),
                                 [&](const AttrText& each) { return each.name == field; });
    if (at != symbolic.end()) {
      writer.add(field, value_text(*at));
    } else {
      writer(field, value);
    }
  });
  return writer.text;
}

std::string value_text(const AttrText& written) {
  if (written.type) return to_string(*written.type);
  std::string text;
  if (!written.words.empty()) text = written.words.front();
  if (written.number) {
    if (!text.empty()) text += ' ';
    text += to_string(*written.number);
  }
  for (std::size_t i = 1; i < written.words.size(); ++i)
    text += fmt::format(" {}", written.words[i]);
  return text;
}

void read_attrs(Attrs& attrs, std::span<const AttrText> written, std::string_view op,
                std::optional<std::int64_t> batch, std::string_view who) {
  AttrReader reader(written, op, batch, who);
  visit_fields(attrs, reader);
  reader.finish();
}

}  // namespace stepscope
