// Expressions, types and settings from tokens.
// SPDX-License-Identifier: Apache-2.0
#include "ops/ir/parse_values.h"

#include <algorithm>
#include <charconv>

#include "ops/base/check.h"
#include "ops/ir/parse.h"

namespace stepscope {
namespace {

constexpr std::string_view kNumber = "a number or B";

bool is_symbol(const Token& token) {
  return token.kind == Token::Kind::name &&
         (token.text == "B" || token.text == "inf" || token.text == "nan");
}

bool starts_expression(const Token& token) {
  return token.kind == Token::Kind::number || is_symbol(token);
}

// "-0" is a real number, whose sign counts.
bool is_whole(std::string_view text) {
  const std::string_view digits = text.substr(text.front() == '-' ? 1 : 0);
  return text != "-0" &&
         std::all_of(digits.begin(), digits.end(), [](char c) { return c >= '0' && c <= '9'; });
}

Factor factor_of(const Token& token, std::string_view who) {
  if (token.text == "B") return {.kind = Factor::Kind::batch};
  Factor factor;
  const char* const first = token.text.data();
  const char* const last = first + token.text.size();
  if (is_whole(token.text) && std::from_chars(first, last, factor.whole).ec == std::errc()) {
    return factor;
  }
  factor.kind = Factor::Kind::real;
  const auto [end, error] = std::from_chars(first, last, factor.real);
  if (error == std::errc::result_out_of_range) {
    fail_at(who, token.place, fmt::format("{} is out of the range of a double", describe(token)));
  }
  if (error != std::errc() || end != last) {
    fail_at(who, token.place, fmt::format("{} is no number", describe(token)));
  }
  return factor;
}

Factor take_factor(Tokens& tokens) {
  if (!starts_expression(tokens.now())) tokens.wrong(kNumber);
  const Factor factor = factor_of(tokens.now(), tokens.who());
  tokens.advance();
  return factor;
}

TypeText parse_type_after(Tokens& tokens, const Token& dtype) {
  TypeText type;
  type.place = dtype.place;
  try {
    type.dtype = dtype_from(dtype.text);
  } catch (const Error& error) {
    fail_at(tokens.who(), dtype.place, error.what());
  }
  type.dims = parse_dims(tokens);
  if (!tokens.is("@") || tokens.next().kind != Token::Kind::number) return type;
  tokens.advance();
  const Expression layout = parse_expression(tokens);
  const std::int64_t number = whole_value(layout, std::nullopt, tokens.who());
  if (number < 0 || number >= static_cast<std::int64_t>(kMostLayouts)) {
    fail_at(tokens.who(), layout.place,
            fmt::format("layout {}, expected 0 to {}", number, kMostLayouts - 1));
  }
  type.layout = static_cast<LayoutId>(number);
  return type;
}

// A number, a type, or a word with what may follow it.
void parse_value(Tokens& tokens, AttrText& setting) {
  setting.value_place = tokens.now().place;
  if (starts_expression(tokens.now())) {
    setting.number = parse_expression(tokens);
    return;
  }
  const Token word = tokens.take(Token::Kind::name, "a number, a word or a type");
  if (tokens.is("{")) {
    setting.type = parse_type_after(tokens, word);
    return;
  }
  setting.words.emplace_back(word.text);
  if (starts_expression(tokens.now())) setting.number = parse_expression(tokens);
  if (tokens.is(Token::Kind::name)) {
    setting.words.emplace_back(tokens.now().text);
    tokens.advance();
  }
}

}  // namespace

Tokens::Tokens(std::string_view text, std::size_t start, std::string_view who)
    : who_(who), lexer_(text, start, who) {
  now_ = lexer_.next();
  next_ = lexer_.next();
}

void Tokens::advance() {
  now_ = next_;
  next_ = lexer_.next();
}

bool Tokens::is(std::string_view mark) const {
  return now_.kind == Token::Kind::mark && now_.text == mark;
}

bool Tokens::accept(std::string_view mark) {
  if (!is(mark)) return false;
  advance();
  return true;
}

void Tokens::expect(std::string_view mark, std::string_view expected) {
  if (!accept(mark)) wrong(expected);
}

Token Tokens::take(Token::Kind kind, std::string_view expected) {
  if (now_.kind != kind) wrong(expected);
  const Token taken = now_;
  advance();
  return taken;
}

void Tokens::wrong(std::string_view expected) const {
  fail_at(who_, now_.place, fmt::format("{}, expected {}", describe(now_), expected));
}

Expression parse_expression(Tokens& tokens) {
  Expression expression;
  expression.place = tokens.now().place;
  expression.factors.push_back(take_factor(tokens));
  while (tokens.is("*") || tokens.is("/")) {
    const bool divides = tokens.is("/");
    if (expression.factors.size() == kMaxFactors) {
      fail_at(tokens.who(), tokens.now().place,
              fmt::format("more than {} factors in one number", kMaxFactors));
    }
    tokens.advance();
    expression.factors.push_back(take_factor(tokens));
    expression.factors.back().divides = divides;
  }
  return expression;
}

std::vector<Expression> parse_dims(Tokens& tokens) {
  tokens.expect("{", "'{' before the dimensions");
  std::vector<Expression> dims;
  if (tokens.accept("}")) return dims;
  do {
    if (dims.size() == Shape::kMaxRank) {
      fail_at(tokens.who(), tokens.now().place,
              fmt::format("more than {} dimensions", Shape::kMaxRank));
    }
    dims.push_back(parse_expression(tokens));
  } while (tokens.accept(","));
  tokens.expect("}", "',' or '}' behind a dimension");
  return dims;
}

TypeText parse_type(Tokens& tokens) {
  const Token dtype = tokens.take(Token::Kind::name, "a type, as in f32{B, 784}");
  return parse_type_after(tokens, dtype);
}

std::vector<AttrText> parse_settings(Tokens& tokens) {
  tokens.expect("{", "'{' before the settings");
  std::vector<AttrText> settings;
  do {
    const Token name = tokens.take(Token::Kind::name, "the name of a setting");
    if (settings.size() == kMaxSettings) {
      fail_at(tokens.who(), name.place, fmt::format("more than {} settings", kMaxSettings));
    }
    AttrText& setting = settings.emplace_back();
    setting.name = name.text;
    setting.place = name.place;
    tokens.expect("=", "'=' behind the name of a setting");
    parse_value(tokens, setting);
  } while (tokens.accept(","));
  tokens.expect("}", "',' or '}' behind a setting");
  return settings;
}

}  // namespace stepscope
