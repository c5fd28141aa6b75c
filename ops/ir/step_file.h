// StepFile: a step as text says it, with the batch as a symbol B. The language is that of
// docs/step-files.md; to_text() writes the same one for a Graph, where every size is a number.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "ops/ir/attr_text.h"
#include "ops/ir/expression.h"
#include "ops/ir/graph.h"

namespace stepscope {

inline constexpr std::string_view kStepFileHeader = "stepscope-ir 1";

// How a parameter starts; what Initial in ops/models/model.h is made from.
struct InitialText {
  enum class Kind : std::uint8_t { zeros, constant, he, uniform, file };
  Kind kind = Kind::zeros;
  std::int64_t fan_in = 1;       // he
  double value = 0.0;            // constant
  double low = 0.0, high = 1.0;  // uniform: [low, high)
  std::string file, tensor;      // file
};

std::string_view name(InitialText::Kind kind);

// The fan-in that a shape tells: of {in, out} in, of {O, C, KH, KW} C * KH * KW; 0 for others.
std::int64_t fan_in_of(const Shape& shape);

struct DeclarationText {
  Role role = Role::input;
  std::string name;
  TypeText type;
  std::optional<InitialText> initial;  // of a parameter
  Place place;                         // of the name
};

// A value, or with `shape` a view of it.
struct OperandText {
  std::string name;
  std::optional<std::vector<Expression>> shape;
  Place place;
};

struct OutputText {
  std::string name;
  std::optional<TypeText> type;
  std::string overwrites;  // the parameter or state, where it is written
  Place place;
};

// y : f32{B, 10} = MatMul(x, w) {transpose_b = true} @ forward
struct CallText {
  OpKind kind{};
  Attrs attrs;                     // but what `symbolic` sets
  std::vector<AttrText> symbolic;  // settings that need the batch
  std::vector<OperandText> inputs;
  std::vector<OutputText> outputs;
  PhaseSet phases = Phase::forward;
  Place place;  // of the op's name
};

// flat = h{B, 576}
struct ViewText {
  OutputText view;
  OperandText shown;  // with its shape
};

struct StepFile {
  std::string who;  // the file, for messages
  std::vector<DeclarationText> declarations;
  std::vector<std::variant<CallText, ViewText>> lines;
  std::vector<OperandText> kept;
};

inline constexpr std::int64_t kMostBatch = 1 << 20;  // rows

// The graph at that batch, 1 to kMostBatch. Throws bad_input with the place: types that are not as
// written, sizes that are not whole at that batch, and whatever an op's shape rule says. Op i of
// the graph is the i-th call of the file.
Graph instantiate(const StepFile& file, std::int64_t batch);

// A graph as a step file without B: what to_text(Graph) prints.
StepFile to_step_file(const Graph& graph);

// Canonical: declarations, ops and views in order, kept values; every setting that is not left out
// by default. parse_step() of it gives the same text again.
std::string to_text(const StepFile& file);

}  // namespace stepscope
