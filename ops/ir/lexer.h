// Tokens of a step file. Names, numbers and marks are ASCII; other bytes may stand in comments and
// strings alone.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <string_view>

#include "ops/ir/expression.h"

namespace stepscope {

struct Token {
  enum class Kind : std::uint8_t { name, number, string, mark, line_end, end };
  Kind kind = Kind::end;
  std::string_view text;  // of a string: between its quotes, as written
  Place place;
};

// What a message calls it: 'Relu', the end of the line.
std::string describe(const Token& token);

class Lexer {
 public:
  // Starts at byte `start`, on the first line. Requires: the text outlives the lexer and its
  // tokens.
  Lexer(std::string_view text, std::size_t start, std::string_view who)
      : text_(text), who_(who), at_(start) {}

  // The next token; at the end of the text a line_end, then end for ever. Throws bad_input for what
  // is no token.
  Token next();

 private:
  char at(std::size_t i) const { return i < text_.size() ? text_[i] : '\0'; }
  Place here() const;
  void skip_blanks();
  Token take(Token::Kind kind, std::size_t length);
  Token line_end(std::size_t length);
  Token number();
  Token string();

  std::string_view text_;
  std::string_view who_;
  std::size_t at_;
  std::size_t line_start_ = 0;
  std::int32_t line_ = 1;
  bool ended_ = false;
};

// What a string says: \" and \\ are one character each. Requires: a string token.
std::string unescaped(const Token& token);
std::string quoted(std::string_view text);

}  // namespace stepscope
