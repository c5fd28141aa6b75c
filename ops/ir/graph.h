// The op IR: values, ops, and the append-only Graph that holds them. Knows no device and no
// library.
//
// A Graph is a straight list of ops in an order in which it may be executed. Values are named by
// ValueId. Two kinds of values have no memory of their own (`storage` names whose they use):
//   a view     (reshape): the same bytes under another shape, with no op and no call;
//   an update's result  : the new content of a parameter or state, written where the old one lies.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <compare>
#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "ops/ir/attrs.h"
#include "ops/ir/op_kind.h"
#include "ops/ir/phase.h"
#include "ops/ir/types.h"

namespace stepscope {

enum class Role : std::uint8_t {
  input,      // written from outside before a step: batch, labels
  parameter,  // trained; fixed address; survives the step
  state,      // optimizer state and control block; fixed address; survives the step
  computed,   // made and used up within a step
  saved,      // opaque bytes from an op to its gradient op; the backend tells the size
};

std::string_view name(Role role);

// Values of the control block are states of these names, scalars each. What they hold changes from
// step to step and lives in device memory in every mode.
inline constexpr std::string_view kStepCount = "control.step";   // i32: steps finished so far
inline constexpr std::string_view kLearningRate = "control.lr";  // floating, as the parameters

struct ValueId {
  std::int32_t index = -1;
  bool valid() const { return index >= 0; }
  friend auto operator<=>(const ValueId&, const ValueId&) = default;
};

// How a value relates to the memory of `storage`, when that is not its own.
enum class Sharing : std::uint8_t { own, view, overwrite };

// Longest name of a value.
inline constexpr std::size_t kMaxNameLength = 128;
// A letter or _, then letters, digits, _ and dots, kMaxNameLength at most: what the text of a graph
// can hold (docs/step-files.md).
bool is_name(std::string_view text);

struct Value {
  TensorType type;
  Role role = Role::computed;
  Sharing sharing = Sharing::own;
  bool kept = false;  // readable after the step
  std::string name;   // may be empty; unique where it is not, and then is_name()
  ValueId storage;    // itself, or the value with sharing == own whose memory this one uses
  std::int32_t producer =
      -1;  // index of the op that writes it; for a view, of its source; -1: none
  std::int32_t number =
      -1;  // its place among the outputs of all ops, which labels it; -1: no output
};

struct Op {
  OpKind kind{};
  Attrs attrs;
  std::vector<ValueId> inputs;
  std::vector<ValueId> outputs;
  PhaseSet phases;
};

class Graph {
 public:
  // A value that no op makes. Requires: role is input, parameter or state; the name is not empty.
  // Throws bad_graph when the name is taken or no name, or the type is not well-formed.
  ValueId declare(Role role, const TensorType& type, std::string name);

  // Appends an op in the current phase; types of the outputs come from its shape rule.
  // Throws bad_graph with the op's name and the numbers when the inputs do not fit.
  std::vector<ValueId> apply(OpKind kind, std::vector<ValueId> inputs, Attrs attrs = {});
  // The same for ops with one output.
  ValueId apply1(OpKind kind, std::vector<ValueId> inputs, Attrs attrs = {});

  // The value under another shape: no op, no call. Throws bad_graph when the elements differ.
  ValueId reshape(ValueId value, const Shape& shape);

  // Makes the value readable after the step, and names it if a name is given.
  void keep(ValueId value, std::string name = {});

  // Names what an op or a view makes, or names it anew; for people alone, unless it is kept later.
  // Throws bad_graph when the name is taken or no name, or the value is declared or kept.
  void rename(ValueId value, std::string name);

  // Phases of the ops appended from now on.
  void enter(PhaseSet phases) { phases_ = phases; }
  PhaseSet phases() const { return phases_; }

  std::span<const Op> ops() const { return ops_; }
  std::span<const Value> values() const { return values_; }
  const Value& value(ValueId id) const { return values_[static_cast<std::size_t>(id.index)]; }
  const TensorType& type(ValueId id) const { return value(id).type; }
  ValueId storage(ValueId id) const { return value(id).storage; }
  // Of a view, the value it shows: no view itself, of the same storage and version. Else the value.
  ValueId source(ValueId id) const;

  // The value of that name, if there is one.
  std::optional<ValueId> find(std::string_view name) const;
  // Name of the value. Without one %number, or for a view its source under its shape: %4{32, 10}.
  // The same as in the text of the graph.
  std::string label(ValueId id) const;

  // All ids, in order of making.
  std::vector<ValueId> ids() const;

 private:
  friend class GraphTestPeer;  // tests/ops: breaks what apply() cannot, to see the verifier refuse
                               // it

  ValueId add_value(Value value);
  void check_name(std::string_view name) const;

  std::vector<Op> ops_;
  std::vector<Value> values_;
  std::unordered_map<std::string, ValueId> names_;
  std::int32_t outputs_ = 0;  // of all ops
  PhaseSet phases_ = Phase::forward;
};

}  // namespace stepscope

template <>
struct std::hash<stepscope::ValueId> {
  std::size_t operator()(const stepscope::ValueId& id) const noexcept {
    return std::hash<std::int32_t>{}(id.index);
  }
};
