// A plan as a table.
// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "graph/plan/plan.h"
#include "ops/ir/op_def.h"

namespace stepscope {
namespace {

// 401,408: long numbers in groups of three.
std::string grouped(std::size_t number) {
  std::string text = fmt::to_string(number);
  for (std::size_t i = text.size(); i > 3; i -= 3) text.insert(i - 3, 1, ',');
  return text;
}

enum class Align : std::uint8_t { left, right };

// Rows of cells, each column as wide as its widest cell. The first row is the heading.
class Table {
 public:
  explicit Table(std::vector<Align> columns)
      : columns_(std::move(columns)), widths_(columns_.size()) {}

  void add(std::vector<std::string> cells) {
    for (std::size_t i = 0; i < cells.size(); ++i)
      widths_[i] = std::max(widths_[i], cells[i].size());
    rows_.push_back(std::move(cells));
  }

  std::string text() const {
    std::string all;
    for (const std::vector<std::string>& row : rows_) {
      std::string line;
      for (std::size_t i = 0; i < row.size(); ++i) {
        const std::string gap(i == 0 ? 0 : 2, ' ');
        line += columns_[i] == Align::left ? fmt::format("{}{:<{}}", gap, row[i], widths_[i])
                                           : fmt::format("{}{:>{}}", gap, row[i], widths_[i]);
      }
      all += line.substr(0, line.find_last_not_of(' ') + 1) + '\n';
    }
    return all;
  }

 private:
  std::vector<Align> columns_;
  std::vector<std::size_t> widths_;
  std::vector<std::vector<std::string>> rows_;
};

std::string place(const Slot& slot) {
  return fmt::format("{}:{}", slot.segment == Segment::model ? 'm' : 'a', slot.offset);
}

// w1 m:8192, %9 a:0
std::string operands(const Plan& plan, const std::vector<ValueId>& ids) {
  std::string text;
  for (const ValueId id : ids) {
    text += fmt::format("{}{} {}", text.empty() ? "" : ", ", plan.graph->label(id),
                        place(plan.slots[static_cast<std::size_t>(id.index)]));
  }
  return text;
}

Work work_of(const Graph& graph, const Op& op) {
  std::vector<TensorType> in, out;
  for (const ValueId id : op.inputs) in.push_back(graph.type(id));
  for (const ValueId id : op.outputs) out.push_back(graph.type(id));
  return op_def(op.kind).work(in, out, op.attrs);
}

std::string ops_table(const Plan& plan) {
  Table table({Align::right, Align::left, Align::left, Align::left, Align::left, Align::left,
               Align::right, Align::right});
  table.add({"#", "op", "phase", "reads", "writes", "scratch", "bytes moved", "flops"});
  Work total;
  for (std::size_t i = 0; i < plan.graph->ops().size(); ++i) {
    const Op& op = plan.graph->ops()[i];
    const Work work = work_of(*plan.graph, op);
    const Slot& scratch = plan.scratch[i];
    table.add(
        {fmt::to_string(i), std::string(name(op.kind)), to_string(op.phases),
         operands(plan, op.inputs), operands(plan, op.outputs),
         scratch.bytes == 0 ? "" : fmt::format("{} {}", grouped(scratch.bytes), place(scratch)),
         grouped(static_cast<std::size_t>(work.bytes)),
         grouped(static_cast<std::size_t>(work.flops))});
    total.bytes += work.bytes;
    total.flops += work.flops;
  }
  table.add({"", "in all", "", "", "", "", grouped(static_cast<std::size_t>(total.bytes)),
             grouped(static_cast<std::size_t>(total.flops))});
  return table.text();
}

std::string totals(const Plan& plan) {
  const auto times = [](std::size_t a, std::size_t b, std::string_view what) {
    if (b == 0) return std::string();
    return fmt::format("{:.3f} x the {}", static_cast<double>(a) / static_cast<double>(b), what);
  };
  const ArenaBytes& bytes = plan.bytes;
  Table table({Align::left, Align::right, Align::left});
  table.add({"arena", grouped(bytes.arena), times(bytes.arena, bytes.bound, "bound")});
  table.add({"bound", grouped(bytes.bound), "the most that is live at one op, not rounded"});
  table.add({"no reuse", grouped(bytes.no_reuse), times(bytes.no_reuse, bytes.arena, "arena")});
  return table.text();
}

std::string model_table(const Plan& plan) {
  Table table({Align::right, Align::left, Align::left, Align::left, Align::right});
  table.add({"at", "role", "name", "type", "bytes"});
  std::size_t total = 0;
  for (const ValueId id : plan.graph->ids()) {
    const Value& value = plan.graph->value(id);
    if (value.producer >= 0 || value.sharing != Sharing::own) continue;
    const Slot& slot = plan.slots[static_cast<std::size_t>(id.index)];
    total += slot.bytes;
    table.add({place(slot), std::string(name(value.role)), value.name, to_string(value.type),
               grouped(slot.bytes)});
  }
  table.add({"", "in all", "", "", grouped(total)});
  return table.text();
}

}  // namespace

std::string to_text(const Plan& plan) {
  return fmt::format(
      "{} ops; slots in the model segment (m) and the arena (a), aligned to {} bytes\n\n{}\n"
      "bytes of the arena\n{}\n"
      "model segment\n{}",
      plan.graph->ops().size(), plan.alignment, ops_table(plan), totals(plan), model_table(plan));
}

}  // namespace stepscope
