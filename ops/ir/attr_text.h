// Settings of an op as they are written in a step file, and reading them into the op's struct.
// Which settings there are, of what type, comes from the struct's fields() alone.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "ops/ir/attrs.h"
#include "ops/ir/expression.h"

namespace stepscope {

// One `name = value`. The value is a number, a type, or a word, which a number and another word
// may follow (a step of a chain: Scale 0.5 current_first).
struct AttrText {
  std::string name;
  Place place;
  std::optional<Expression> number;
  std::optional<TypeText> type;
  std::vector<std::string> words;
  Place value_place;

  bool has_batch() const { return (number && number->has_batch()) || (type && type->has_batch()); }
};

std::string value_text(const AttrText& written);

// Sets in `attrs`, which holds the op's struct, what is written; the rest stays. A setting that
// needs the batch is checked and left alone where no batch is given. Throws bad_input with the
// place: unknown settings (with the nearest), values of another type, settings given twice.
void read_attrs(Attrs& attrs, std::span<const AttrText> written, std::string_view op,
                std::optional<std::int64_t> batch, std::string_view who);

// As to_string(attrs), with what is in `symbolic` written in place of the value.
std::string to_string(const Attrs& attrs, std::span<const AttrText> symbolic);

}  // namespace stepscope
