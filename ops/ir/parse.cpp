// The statements of a step file: one a line, each read once, from left to right.
// SPDX-License-Identifier: Apache-2.0
#include "ops/ir/parse.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <unordered_set>

#include "ops/base/check.h"
#include "ops/base/nearest.h"
#include "ops/ir/op_def.h"
#include "ops/ir/parse_values.h"

namespace stepscope {
namespace {

constexpr std::size_t kMostSuggested = 1000;  // names that a wrong one is compared with
constexpr std::array kInitials = {InitialText::Kind::zeros, InitialText::Kind::constant,
                                  InitialText::Kind::he, InitialText::Kind::uniform,
                                  InitialText::Kind::file};

// Runs what throws without a place, and gives the message one.
template <class Action>
auto placed(std::string_view who, Place place, Action&& action) {
  try {
    return action();
  } catch (const Error& error) {
    fail_at(who, place, error.what());
  }
}

template <class Choices>
auto choice(std::string_view who, const Token& word, std::string_view kind,
            const Choices& choices) {
  std::vector<std::string> names;
  for (const auto each : choices) {
    if (name(each) == word.text) return each;
    names.emplace_back(name(each));
  }
  fail_at(who, word.place, unknown_name(kind, word.text, names));
}

class Parser {
 public:
  Parser(std::string_view text, std::size_t start, std::string_view who)
      : who_(who), tokens_(text, start, who) {
    file_.who = who;
  }

  StepFile run() {
    while (!tokens_.is(Token::Kind::end)) {
      if (!tokens_.is(Token::Kind::line_end)) statement();
      tokens_.take(Token::Kind::line_end, "the end of the line");
    }
    return std::move(file_);
  }

 private:
  // A word that starts a statement only where a name follows: values may be called so, too.
  bool is_keyword(std::string_view word) const {
    return tokens_.now().text == word && tokens_.next().kind == Token::Kind::name;
  }

  void statement() {
    if (!tokens_.is(Token::Kind::name)) {
      tokens_.wrong("input, parameter, state, keep or the name of a value");
    }
    for (const Role role : {Role::input, Role::parameter, Role::state}) {
      if (is_keyword(stepscope::name(role))) return declaration(role);
    }
    if (is_keyword("keep")) return keep();
    made();
  }

  // ---- Names of values.

  void define(const Token& token) {
    if (names_.size() == kMaxStepValues) {
      fail_at(who_, token.place, fmt::format("more than {} values", kMaxStepValues));
    }
    if (!names_.emplace(token.text).second) {
      fail_at(who_, token.place, fmt::format("there is a value '{}' already", token.text));
    }
  }

  void check_known(const Token& token) const {
    if (names_.contains(std::string(token.text))) return;
    std::vector<std::string> known;
    if (names_.size() <= kMostSuggested) known.assign(names_.begin(), names_.end());
    std::sort(known.begin(), known.end());
    fail_at(who_, token.place,
            fmt::format("there is no value '{}' before this line{}", token.text,
                        known.empty()
                            ? std::string()
                            : fmt::format(": did you mean '{}'?", nearest(token.text, known))));
  }

  OperandText operand() {
    const Token token = tokens_.take(Token::Kind::name, "the name of a value");
    if (tokens_.is("(")) {
      fail_at(
          who_, token.place,
          fmt::format("a call of {} inside a statement, expected a line of its own", token.text));
    }
    check_known(token);
    OperandText operand{std::string(token.text), std::nullopt, token.place};
    if (!tokens_.is("{")) return operand;
    if (++views_ > kMaxStepValues) {
      fail_at(who_, token.place, fmt::format("more than {} views", kMaxStepValues));
    }
    operand.shape = parse_dims(tokens_);
    return operand;
  }

  // ---- Statements.

  void declaration(Role role) {
    tokens_.advance();
    const Token token = tokens_.take(Token::Kind::name, "a name");
    if (!is_name(token.text)) {
      fail_at(who_, token.place,
              fmt::format("{} numbers a value that an op makes, expected a name", describe(token)));
    }
    DeclarationText made{role, std::string(token.text), {}, std::nullopt, token.place};
    tokens_.expect(":", "':' and a type");
    made.type = parse_type(tokens_);
    if (role != Role::input) {  // the same at every batch
      const TensorType type = type_value(made.type, std::nullopt, who_);
      placed(who_, made.type.place, [&] { return check_type(type, made.name), 0; });
    }
    if (tokens_.is("=")) made.initial = initial(made);
    define(token);
    file_.declarations.push_back(std::move(made));
  }

  InitialText initial(const DeclarationText& declared) {
    if (declared.role != Role::parameter) tokens_.wrong("nothing: only parameters have a start");
    tokens_.advance();
    const Token word = tokens_.take(Token::Kind::name, "how the parameter starts, as in he");
    InitialText made{.kind = choice(who_, word, "start", kInitials)};
    switch (made.kind) {
      case InitialText::Kind::zeros:
        break;
      case InitialText::Kind::constant:
        tokens_.expect("(", "'(' and the value");
        made.value = number(declared);
        tokens_.expect(")", "')'");
        break;
      case InitialText::Kind::he:
        made.fan_in = fan_in(declared, word);
        break;
      case InitialText::Kind::uniform:
        uniform(made, declared, word);
        break;
      case InitialText::Kind::file:
        tokens_.expect("(", "'(' and the file");
        made.file = unescaped(tokens_.take(Token::Kind::string, "the file, as a string"));
        tokens_.expect(",", "',' and the tensor in the file");
        made.tensor = unescaped(tokens_.take(Token::Kind::string, "the tensor, as a string"));
        tokens_.expect(")", "')'");
        break;
    }
    return made;
  }

  // What the parameter can hold.
  double number(const DeclarationText& declared) {
    const Expression written = parse_expression(tokens_);
    const double value = real_value(written, std::nullopt, who_);
    if (!std::isfinite(value)) {
      fail_at(who_, written.place, fmt::format("{}, expected a finite number", value));
    }
    constexpr double kLargest = std::numeric_limits<float>::max();
    if (declared.type.dtype == DType::f32 && std::abs(value) > kLargest) {
      fail_at(
          who_, written.place,
          fmt::format("{}, expected a number that f32 holds, {} at most in size", value, kLargest));
    }
    return value;
  }

  std::int64_t fan_in(const DeclarationText& declared, const Token& word) {
    if (!tokens_.accept("(")) {
      const Shape shape = shape_value(declared.type.dims, std::nullopt, who_);
      const std::int64_t told = fan_in_of(shape);
      if (told == 0) {
        fail_at(who_, word.place,
                fmt::format("he: a shape of {} dimensions tells no fan-in, expected he(FAN_IN)",
                            shape.rank()));
      }
      return told;
    }
    const Expression written = parse_expression(tokens_);
    const std::int64_t value = whole_value(written, std::nullopt, who_);
    if (value < 1) {
      fail_at(who_, written.place, fmt::format("a fan-in of {}, expected 1 or more", value));
    }
    tokens_.expect(")", "')'");
    return value;
  }

  void uniform(InitialText& made, const DeclarationText& declared, const Token& word) {
    tokens_.expect("(", "'(' and the two ends");
    made.low = number(declared);
    tokens_.expect(",", "',' and the upper end");
    made.high = number(declared);
    tokens_.expect(")", "')'");
    if (!(made.low < made.high) || !std::isfinite(made.high - made.low)) {
      fail_at(who_, word.place,
              fmt::format("uniform({}, {}), expected the lower end first", made.low, made.high));
    }
  }

  void keep() {
    tokens_.advance();
    if (file_.kept.size() == kMaxStepValues) {
      fail_at(who_, tokens_.now().place, fmt::format("more than {} kept values", kMaxStepValues));
    }
    file_.kept.push_back(operand());
  }

  // a, b : f32{B} -> w = Op(...), or v = a{B, 4}
  void made() {
    std::vector<OutputText> outputs;
    std::vector<Token> tokens;
    do {
      if (outputs.size() == kMaxOutputs) {
        fail_at(who_, tokens_.now().place, fmt::format("more than {} results", kMaxOutputs));
      }
      tokens.push_back(tokens_.take(Token::Kind::name, "the name of a value"));
      outputs.push_back(output(tokens.back()));
    } while (tokens_.accept(","));
    tokens_.expect("=", "',', ':' and a type, or '=' and an op");
    if (tokens_.is(Token::Kind::name) && tokens_.next().text == "(") {
      call(std::move(outputs));
    } else {
      view(std::move(outputs));
    }
    for (const Token& token : tokens) define(token);
  }

  OutputText output(const Token& token) {
    OutputText made{std::string(token.text), std::nullopt, {}, token.place};
    if (tokens_.accept(":")) made.type = parse_type(tokens_);
    if (tokens_.accept("->")) {
      const Token target = tokens_.take(Token::Kind::name, "what it overwrites");
      check_known(target);
      made.overwrites = target.text;
    }
    return made;
  }

  void view(std::vector<OutputText> outputs) {
    if (!tokens_.is(Token::Kind::name))
      tokens_.wrong("an op, as in Relu(x), or a view, as in x{B}");
    const Token token = tokens_.now();
    ViewText made{std::move(outputs.front()), operand()};
    if (!made.shown.shape) {
      tokens_.wrong(fmt::format("'(' of an op or '{{' of a view behind '{}'", token.text));
    }
    if (outputs.size() != 1 || !made.view.overwrites.empty()) {
      fail_at(who_, token.place, "a view is one value and overwrites none");
    }
    file_.lines.emplace_back(std::move(made));
  }

  void call(std::vector<OutputText> outputs) {
    if (++calls_ > kMaxStepOps) {
      fail_at(who_, tokens_.now().place, fmt::format("more than {} ops", kMaxStepOps));
    }
    CallText made;
    const Token word = tokens_.take(Token::Kind::name, "an op");
    made.place = word.place;
    made.kind = placed(who_, word.place, [&] { return op_kind(word.text); });
    made.attrs = op_def(made.kind).attrs;
    made.outputs = std::move(outputs);
    made.phases = made.kind == OpKind::SoftmaxCrossEntropy ? Phase::loss : Phase::forward;
    inputs(made);
    if (tokens_.is("{")) settings(made);
    if (tokens_.accept("@")) made.phases = phases();
    file_.lines.emplace_back(std::move(made));
  }

  void inputs(CallText& made) {
    tokens_.expect("(", "'(' behind the op");
    if (tokens_.accept(")")) return;
    do {
      if (made.inputs.size() == kMaxInputs) {
        fail_at(who_, tokens_.now().place, fmt::format("more than {} inputs", kMaxInputs));
      }
      made.inputs.push_back(operand());
    } while (tokens_.accept(","));
    tokens_.expect(")", "',' or ')' behind an input");
  }

  void settings(CallText& made) {
    std::vector<AttrText> written = parse_settings(tokens_);
    read_attrs(made.attrs, written, stepscope::name(made.kind), std::nullopt, who_);
    for (AttrText& each : written) {
      if (each.has_batch()) made.symbolic.push_back(std::move(each));
    }
  }

  PhaseSet phases() {
    PhaseSet all;
    do {
      const Token word = tokens_.take(Token::Kind::name, "a phase, as in forward");
      all = all | choice(who_, word, "phase", kPhases);
    } while (tokens_.accept("+"));
    return all;
  }

  std::string_view who_;
  Tokens tokens_;
  StepFile file_;
  std::unordered_set<std::string> names_;
  std::size_t calls_ = 0;
  std::size_t views_ = 0;
};

}  // namespace

StepFile parse_step(std::string_view text, std::string_view who) {
  if (text.size() > kMaxStepText) {
    fail_at(who, {1, 1},
            fmt::format("{} bytes, at most {} are allowed", text.size(), kMaxStepText));
  }
  const std::string_view rest =
      text.starts_with(kStepFileHeader) ? text.substr(kStepFileHeader.size()) : "no header";
  if (!rest.empty() && !rest.starts_with("\n") && !rest.starts_with("\r\n")) {
    fail_at(who, {1, 1}, fmt::format("expected '{}' as the first line", kStepFileHeader));
  }
  return Parser(text, kStepFileHeader.size(), who).run();
}

}  // namespace stepscope
