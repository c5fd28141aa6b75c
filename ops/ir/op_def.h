// OpDef: all that the compiler side knows of an op, in one place. Built-in definitions are
// constants in ops/defs, one file per family; the table is made from op_list.inc.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <span>
#include <string_view>

#include "ops/base/check.h"
#include "ops/base/fixed_list.h"
#include "ops/ir/graph.h"

namespace stepscope {

// Most operands (inputs and outputs together) of one op: a multi-tensor update of twenty
// parameters.
inline constexpr std::size_t kMaxInputs = 44;
inline constexpr std::size_t kMaxOutputs = 24;
inline constexpr std::size_t kMaxOperands = kMaxInputs + kMaxOutputs;
using TypeList = FixedList<TensorType, kMaxOutputs>;

// What an op must do at least: arithmetic operations (an exp, a tanh and a division count as one),
// and bytes that must be read and written when every operand moves once.
struct Work {
  double flops = 0.0;
  double bytes = 0.0;
};

// What a gradient rule is given. It appends ops to `graph` and answers one gradient per input
// through `input_grads` (same length as op.inputs, all invalid at first).
struct GradientRequest {
  Graph& graph;
  const Op& op;                           // a copy outside the graph: appending does not move it
  std::span<const ValueId> output_grads;  // per output; invalid where nothing flows back
  std::span<const bool> wanted;           // per input; a rule may skip what is not wanted
  std::span<ValueId> input_grads;
};

struct OpDef {
  std::string_view name;

  // Shape rule: checks inputs and attributes, appends the type of each output.
  // Throws bad_graph: `MatMul: inner sizes differ, 784 and 512`.
  void (*infer)(std::span<const TensorType> in, const Attrs& attrs, TypeList& out) = nullptr;

  // Gradient rule; null: the op has none, and autodiff says so by name.
  void (*vjp)(GradientRequest& request) = nullptr;

  Work (*work)(std::span<const TensorType> in, std::span<const TensorType> out,
               const Attrs& attrs) = nullptr;

  // What settings the op has, with what stands where one is not given; monostate: none. Text is
  // read into a copy of it.
  Attrs attrs{};

  // Bit i: output 0 may take the memory of input i, if that dies here and the kernel can do it
  // (Needs::in_place). Only for ops that read no element after writing one at another place.
  std::uint32_t in_place = 0;

  // The input whose new content output `output` is, in the same memory, or -1: its memory is its
  // own. That input must be a parameter or a state. Null: -1 for all. `inputs` is their count.
  int (*overwrites)(const Attrs& attrs, std::size_t inputs, std::size_t output) = nullptr;

  // Bit i: input i may have another layout than row-major. What layout the outputs have then is
  // said by the shape rule.
  std::uint32_t any_layout = 0;

  // Bit i: output i is Role::saved, opaque bytes whose size the backend's kernel tells.
  std::uint8_t saved_outputs = 0;

  // Fresh draws or other effects: simplify never merges, drops or moves it.
  bool stateful = false;
};

// Requires: kind is built in or was returned by add_op.
const OpDef& op_def(OpKind kind);
std::string_view name(OpKind kind);
// The op of that name, built in or added; throws bad_input for an unknown one, with the nearest.
OpKind op_kind(std::string_view text);

// By OpDef::any_layout. Inputs from 32 on are row-major.
inline bool takes_any_layout(const OpDef& def, std::size_t input) {
  return input < 32 && (def.any_layout >> input & 1U) != 0;
}

// By OpDef::overwrites: the input that output `output` is the new content of, or -1.
int overwritten_input(const OpDef& def, const Attrs& attrs, std::size_t inputs, std::size_t output);
inline int overwritten_input(OpKind kind, const Attrs& attrs, std::size_t inputs,
                             std::size_t output) {
  return overwritten_input(op_def(kind), attrs, inputs, output);
}

// Built-in ops and those added so far.
std::size_t op_count();

// Adds an op from outside the tree: an explicit call, before the first Graph that uses it, by one
// thread. The definition is copied; `name` must outlive the program's use of it. Throws bad_graph
// when the name is taken or a rule is missing.
OpKind add_op(const OpDef& def);

// Helpers of shape rules. Each throws bad_graph and starts its message with the op's name.
void check_arity(std::string_view op, std::span<const TensorType> in, std::size_t count);
void check_same_type(std::string_view op, const TensorType& a, const TensorType& b);
void check_rank(std::string_view op, const TensorType& type, std::size_t rank,
                std::string_view operand);
void check_floating(std::string_view op, const TensorType& type, std::string_view operand);
// The attributes as this op's own struct.
template <class OwnAttrs>
const OwnAttrs& own_attrs(std::string_view op, const Attrs& attrs) {
  const auto* own = std::get_if<OwnAttrs>(&attrs);
  check(own != nullptr, Fault::bad_graph, "{}: its attributes are missing, or another op's", op);
  return *own;
}

// Helper of work rules: every operand moved once.
double bytes_moved(std::span<const TensorType> in, std::span<const TensorType> out);

}  // namespace stepscope
