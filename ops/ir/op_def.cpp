// The op table: built-in definitions in the order of op_list.inc, then the added ones.
// SPDX-License-Identifier: Apache-2.0
#include "ops/ir/op_def.h"

#include <array>
#include <deque>
#include <string>
#include <vector>

#include "ops/base/check.h"
#include "ops/base/nearest.h"

namespace stepscope {

// One constant per line of the list, defined in ops/defs. A missing one is a link error with its
// name.
namespace defs {
#define STEPSCOPE_OP(name) extern const OpDef name;
#include "ops/ir/op_list.inc"
#undef STEPSCOPE_OP
}  // namespace defs

namespace {

constexpr std::array<const OpDef*, kBuiltinOps> kTable = {
#define STEPSCOPE_OP(name) &defs::name,
#include "ops/ir/op_list.inc"
#undef STEPSCOPE_OP
};

// Ops added at run time; a deque, so that references stay valid.
std::deque<OpDef>& added_ops() {
  static std::deque<OpDef> added;
  return added;
}

}  // namespace

const OpDef& op_def(OpKind kind) {
  const auto index = static_cast<std::size_t>(kind);
  if (index < kBuiltinOps) return *kTable[index];
  check(index < op_count(), Fault::bad_graph, "op {} is not in the table of {} ops", index,
        op_count());
  return added_ops()[index - kBuiltinOps];
}

std::string_view name(OpKind kind) { return op_def(kind).name; }

OpKind op_kind(std::string_view text) {
  std::vector<std::string> names;
  for (std::size_t i = 0; i < op_count(); ++i) {
    const auto kind = static_cast<OpKind>(i);
    if (name(kind) == text) return kind;
    names.emplace_back(name(kind));
  }
  fail(Fault::bad_input, "{}", unknown_name("op", text, names));
}

int overwritten_input(const OpDef& def, const Attrs& attrs, std::size_t inputs,
                      std::size_t output) {
  return def.overwrites != nullptr ? def.overwrites(attrs, inputs, output) : -1;
}

std::size_t op_count() { return kBuiltinOps + added_ops().size(); }

OpKind add_op(const OpDef& def) {
  check(!def.name.empty() && def.infer != nullptr && def.work != nullptr, Fault::bad_graph,
        "add_op '{}': name, infer and work are required", def.name);
  for (std::size_t i = 0; i < op_count(); ++i) {
    check(name(static_cast<OpKind>(i)) != def.name, Fault::bad_graph,
          "add_op: there is an op '{}' already", def.name);
  }
  added_ops().push_back(def);
  return static_cast<OpKind>(op_count() - 1);
}

void check_arity(std::string_view op, std::span<const TensorType> in, std::size_t count) {
  check(in.size() == count, Fault::bad_graph, "{}: takes {} inputs, got {}", op, count, in.size());
}

void check_same_type(std::string_view op, const TensorType& a, const TensorType& b) {
  check(a == b, Fault::bad_graph, "{}: operand types differ, {} and {}", op, to_string(a),
        to_string(b));
}

void check_rank(std::string_view op, const TensorType& type, std::size_t rank,
                std::string_view operand) {
  check(type.shape.rank() == rank, Fault::bad_graph, "{}: {} must have rank {}, {} has rank {}", op,
        operand, rank, to_string(type), type.shape.rank());
}

void check_floating(std::string_view op, const TensorType& type, std::string_view operand) {
  check(is_floating(type.dtype), Fault::bad_graph, "{}: {} must be floating, got {}", op, operand,
        to_string(type));
}

double bytes_moved(std::span<const TensorType> in, std::span<const TensorType> out) {
  double bytes = 0.0;
  for (const TensorType& type : in) bytes += static_cast<double>(type.bytes());
  for (const TensorType& type : out) bytes += static_cast<double>(type.bytes());
  return bytes;
}

}  // namespace stepscope
