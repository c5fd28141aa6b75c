// Cutting a text into tokens. It allocates nothing but messages.
// SPDX-License-Identifier: Apache-2.0
#include "ops/ir/lexer.h"

#include <algorithm>

#include "ops/base/check.h"
#include "ops/ir/graph.h"

namespace stepscope {
namespace {

constexpr std::size_t kMaxStringLength = 4096;  // what a path may have on Linux
constexpr std::size_t kMaxNumberLength = 64;    // any double in full has less
constexpr std::size_t kShownLength = 40;        // of a token in a message

bool is_digit(char c) { return c >= '0' && c <= '9'; }
bool is_letter(char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_'; }
bool is_name_part(char c) { return is_letter(c) || is_digit(c) || c == '.'; }

// One byte for a message: 'x', or byte 0xC3.
std::string shown(char c) {
  return c > ' ' && c <= '~' ? fmt::format("'{}'", c)
                             : fmt::format("byte 0x{:02X}", static_cast<unsigned char>(c));
}

bool is_control(char c) { return static_cast<unsigned char>(c) < 0x20 && c != '\t'; }

}  // namespace

std::string describe(const Token& token) {
  switch (token.kind) {
    case Token::Kind::line_end:
      return "the end of the line";
    case Token::Kind::end:
      return "the end of the file";
    case Token::Kind::string:
      return "a string";
    default:
      return fmt::format("'{}{}'", token.text.substr(0, kShownLength),
                         token.text.size() > kShownLength ? "..." : "");
  }
}

Place Lexer::here() const { return {line_, static_cast<std::int32_t>(at_ - line_start_) + 1}; }

Token Lexer::take(Token::Kind kind, std::size_t length) {
  const Token token{kind, text_.substr(at_, length), here()};
  at_ += length;
  return token;
}

Token Lexer::line_end(std::size_t length) {
  const Token token = take(Token::Kind::line_end, length);
  ++line_;
  line_start_ = at_;
  return token;
}

void Lexer::skip_blanks() {
  while (at(at_) == ' ' || at(at_) == '\t') ++at_;
  if (at(at_) != '#') return;
  while (at_ < text_.size() && at(at_) != '\n' && !(at(at_) == '\r' && at(at_ + 1) == '\n')) {
    if (is_control(at(at_))) {
      fail_at(who_, here(), fmt::format("{} in a comment", shown(at(at_))));
    }
    ++at_;
  }
}

Token Lexer::next() {
  skip_blanks();
  if (at_ >= text_.size()) {
    const Token token = take(ended_ ? Token::Kind::end : Token::Kind::line_end, 0);
    ended_ = true;
    return token;
  }
  const char c = at(at_);
  if (c == '\n') return line_end(1);
  if (c == '\r' && at(at_ + 1) == '\n') return line_end(2);
  if (is_digit(c) || (c == '-' && at(at_ + 1) != '>')) return number();
  if (c == '"') return string();
  if (is_letter(c) || c == '%') {
    std::size_t length = 1;
    while (c == '%' ? is_digit(at(at_ + length)) : is_name_part(at(at_ + length))) ++length;
    if (length > kMaxNameLength) {
      fail_at(
          who_, here(),
          fmt::format("a name of {} characters, at most {} are allowed", length, kMaxNameLength));
    }
    if (c == '%' && length == 1) fail_at(who_, here(), "'%' alone, expected a number behind it");
    return take(Token::Kind::name, length);
  }
  if (c == '-') return take(Token::Kind::mark, 2);  // ->
  if (std::string_view(":,=(){}@+*/").find(c) != std::string_view::npos) {
    return take(Token::Kind::mark, 1);
  }
  fail_at(who_, here(),
          fmt::format("{}, expected a name, a number or one of : , = ( ) {{ }} @", shown(c)));
}

// -1, 0.5, 1e-08, -inf
Token Lexer::number() {
  std::size_t length = at(at_) == '-' ? 1 : 0;
  const std::size_t start = length;
  while (is_name_part(at(at_ + length)) ||
         ((at(at_ + length) == '-' || at(at_ + length) == '+') &&
          (at(at_ + length - 1) == 'e' || at(at_ + length - 1) == 'E') &&
          is_digit(at(at_ + start)))) {
    ++length;
  }
  if (length == start || length > kMaxNumberLength) {
    fail_at(who_, here(),
            length == start ? std::string("'-' alone, expected a number behind it")
                            : fmt::format("a number of {} characters, at most {} are allowed",
                                          length, kMaxNumberLength));
  }
  return take(Token::Kind::number, length);
}

Token Lexer::string() {
  std::size_t end = at_ + 1;
  while (at(end) != '"') {
    if (end >= text_.size() || is_control(at(end))) {
      fail_at(who_, here(), "a string that does not end on its line");
    }
    if (at(end) == '\\') {
      ++end;
      if (at(end) != '"' && at(end) != '\\') {
        fail_at(who_, here(), "a string holds \\ before another character than \" and \\");
      }
    }
    ++end;
    if (end - at_ > kMaxStringLength) {
      fail_at(who_, here(), fmt::format("a string of more than {} bytes", kMaxStringLength));
    }
  }
  Token token{Token::Kind::string, text_.substr(at_ + 1, end - at_ - 1), here()};
  at_ = end + 1;
  return token;
}

std::string unescaped(const Token& token) {
  std::string text;
  for (std::size_t i = 0; i < token.text.size(); ++i) {
    if (token.text[i] == '\\') ++i;
    text += token.text[i];
  }
  return text;
}

std::string quoted(std::string_view text) {
  std::string result = "\"";
  for (const char c : text) {
    if (c == '"' || c == '\\') result += '\\';
    result += c;
  }
  return result + '"';
}

}  // namespace stepscope
