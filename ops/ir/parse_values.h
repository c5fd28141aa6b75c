// The parts that statements of a step file are made of: expressions, types, settings.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "ops/ir/attr_text.h"
#include "ops/ir/lexer.h"

namespace stepscope {

// The tokens, one ahead of the one that is looked at.
class Tokens {
 public:
  Tokens(std::string_view text, std::size_t start, std::string_view who);

  const Token& now() const { return now_; }
  const Token& next() const { return next_; }
  std::string_view who() const { return who_; }

  void advance();
  // The token now is that mark.
  bool is(std::string_view mark) const;
  bool is(Token::Kind kind) const { return now_.kind == kind; }
  bool accept(std::string_view mark);  // and goes on, if it is
  void expect(std::string_view mark, std::string_view expected);
  Token take(Token::Kind kind, std::string_view expected);
  // `'x', expected ...` at the token now.
  [[noreturn]] void wrong(std::string_view expected) const;

 private:
  std::string_view who_;
  Lexer lexer_;
  Token now_, next_;
};

Expression parse_expression(Tokens& tokens);
std::vector<Expression> parse_dims(Tokens& tokens);    // {B, 784}
TypeText parse_type(Tokens& tokens);                   // f32{B, 784}, f32{1, 8, 4, 4}@16
std::vector<AttrText> parse_settings(Tokens& tokens);  // {transpose_a = true, factor = 1/B}

}  // namespace stepscope
