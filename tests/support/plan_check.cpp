// Memory plans, checked on paper.
// SPDX-License-Identifier: Apache-2.0
#include "tests/support/plan_check.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>

#include "ops/ir/op_def.h"

namespace stepscope::test {
namespace {

struct Range {
  std::size_t begin, end;
};

bool overlap(const Range& a, const Range& b) { return a.begin < b.end && b.begin < a.end; }

// Does any op from `from` on read the storage, or is it kept?
bool needed_from(const Graph& graph, ValueId storage, std::size_t from) {
  for (const Value& value : graph.values()) {
    if (value.storage == storage && value.kept) return true;
  }
  for (std::size_t i = from; i < graph.ops().size(); ++i) {
    for (const ValueId id : graph.ops()[i].inputs) {
      if (graph.storage(id) == storage) return true;
    }
  }
  return false;
}

bool is_temporary(const Graph& graph, ValueId id) {
  const Role role = graph.value(graph.storage(id)).role;
  return role == Role::computed || role == Role::saved;
}

class PaperRun {
 public:
  PaperRun(const Plan& plan, std::span<const Needs> needs)
      : plan_(plan), graph_(*plan.graph), needs_(needs) {
    marks_.assign(units(plan.bytes.arena), kNothing);
  }

  std::string run() {
    for (const ValueId id : graph_.ids()) check_slot(id);
    check_model();
    for (std::size_t i = 0; i < graph_.ops().size(); ++i) step(i);
    for (const ValueId id : graph_.ids()) {
      if (graph_.value(id).kept) read(graph_.ops().size(), id);
    }
    return fault_;
  }

 private:
  static constexpr std::int32_t kNothing = -1;
  static constexpr std::int32_t kScratch = -2;

  template <class... Args>
  void expect(bool good, fmt::format_string<Args...> format, Args&&... args) {
    if (!good && fault_.empty()) fault_ = fmt::format(format, std::forward<Args>(args)...);
  }

  // The arena in units of the alignment: no two slots may share one.
  std::size_t units(std::size_t bytes) const {
    return (bytes + plan_.alignment - 1) / plan_.alignment;
  }
  Range range(const Slot& slot) const {
    const std::size_t begin = slot.offset / plan_.alignment;
    return {begin, begin + units(slot.bytes)};
  }
  const Slot& slot(ValueId id) const { return plan_.slots[static_cast<std::size_t>(id.index)]; }

  void check_slot(ValueId id) {
    const bool temporary = is_temporary(graph_, id);
    expect(slot(id).segment == (temporary ? Segment::arena : Segment::model), "{}: wrong segment",
           graph_.label(id));
    expect(slot(id) == slot(graph_.storage(id)), "{}: not where its storage is", graph_.label(id));
    if (temporary) check_place(graph_.label(id), slot(id));
  }

  void check_place(const std::string& who, const Slot& slot) {
    expect(slot.offset % plan_.alignment == 0, "{}: offset {} is not aligned", who, slot.offset);
    expect(slot.offset + slot.bytes <= plan_.bytes.arena, "{}: ends behind the arena", who);
  }

  void check_model() {
    std::map<std::size_t, std::size_t> ends;  // by begin
    for (const ValueId id : graph_.ids()) {
      if (is_temporary(graph_, id) || graph_.storage(id) != id) continue;
      expect(slot(id).bytes == graph_.type(id).bytes(), "{}: wrong size", graph_.label(id));
      expect(ends.emplace(slot(id).offset, slot(id).offset + slot(id).bytes).second,
             "{}: shares its place in the model segment", graph_.label(id));
    }
    std::size_t reached = 0;
    for (const auto& [begin, end] : ends) {
      expect(begin >= reached, "model segment: {} is used twice", begin);
      reached = end;
    }
  }

  void read(std::size_t i, ValueId id) {
    if (!is_temporary(graph_, id)) return;
    const Range where = range(slot(id));
    const std::int32_t mark = graph_.storage(id).index;
    for (std::size_t unit = where.begin; unit < where.end; ++unit) {
      if (marks_[unit] == mark) continue;
      return expect(false, "op {}: {} was overwritten with {}", i, graph_.label(id), marks_[unit]);
    }
  }

  void write(const Slot& slot, std::int32_t mark) {
    if (!fault_.empty()) return;
    const Range where = range(slot);
    std::fill(marks_.begin() + static_cast<std::ptrdiff_t>(where.begin),
              marks_.begin() + static_cast<std::ptrdiff_t>(where.end), mark);
  }

  // May output `k` of op `i` touch the bytes of input `input`?
  bool may_cover(std::size_t i, std::size_t k, std::size_t input) const {
    const Op& op = graph_.ops()[i];
    const std::uint32_t allowed = op_def(op.kind).in_place & needs_[i].in_place;
    return k == 0 && input < 32 && (allowed >> input & 1U) != 0 &&
           slot(op.inputs[input]).offset == slot(op.outputs[0]).offset &&
           slot(op.inputs[input]).bytes >= slot(op.outputs[0]).bytes &&
           !needed_from(graph_, graph_.storage(op.inputs[input]), i + 1);
  }

  void step(std::size_t i) {
    const Op& op = graph_.ops()[i];
    for (const ValueId id : op.inputs) read(i, id);
    const Range scratch = range(plan_.scratch[i]);
    expect(plan_.scratch[i].bytes == needs_[i].scratch, "op {}: scratch of wrong size", i);
    check_place(fmt::format("scratch of op {}", i), plan_.scratch[i]);
    for (const ValueId id : op.inputs) {
      expect(!is_temporary(graph_, id) || !overlap(scratch, range(slot(id))),
             "op {}: scratch over its input {}", i, graph_.label(id));
    }
    write(plan_.scratch[i], kScratch);
    for (std::size_t k = 0; k < op.outputs.size(); ++k) check_output(i, k, scratch);
    for (const ValueId id : op.outputs) {
      if (is_temporary(graph_, id)) write(slot(id), id.index);
    }
    for (const ValueId id : op.outputs) read(i, id);  // no output over another
  }

  void check_output(std::size_t i, std::size_t k, const Range& scratch) {
    const Op& op = graph_.ops()[i];
    const ValueId id = op.outputs[k];
    if (!is_temporary(graph_, id)) return;
    const Needs& needs = needs_[i];
    const std::size_t bytes = graph_.value(id).role == Role::saved ? needs.saved
                              : needs.output_bytes.empty()         ? graph_.type(id).bytes()
                                                                   : needs.output_bytes[k];
    expect(slot(id).bytes == bytes, "op {}: output {} has {} bytes", i, k, slot(id).bytes);
    expect(!overlap(range(slot(id)), scratch), "op {}: output {} over its scratch", i, k);
    for (std::size_t input = 0; input < op.inputs.size(); ++input) {
      if (!is_temporary(graph_, op.inputs[input])) continue;
      expect(!overlap(range(slot(id)), range(slot(op.inputs[input]))) || may_cover(i, k, input),
             "op {}: output {} over input {}", i, k, input);
    }
  }

  const Plan& plan_;
  const Graph& graph_;
  std::span<const Needs> needs_;
  std::vector<std::int32_t> marks_;  // per unit of the arena: the storage whose bytes it holds
  std::string fault_;
};

// The op that needs the storage last.
std::size_t last_use(const Graph& graph, ValueId storage) {
  std::size_t i = graph.ops().size() - 1;
  while (i > static_cast<std::size_t>(graph.value(storage).producer) &&
         !needed_from(graph, storage, i)) {
    --i;
  }
  return i;
}

}  // namespace

std::string first_fault(const Plan& plan, std::span<const Needs> needs) {
  return PaperRun(plan, needs).run();
}

std::size_t bound_of(const Plan& plan, std::span<const Needs> needs, std::size_t rounding) {
  const Graph& graph = *plan.graph;
  std::map<std::int32_t, std::size_t> bytes;  // by the first value of a memory
  for (const ValueId id : graph.ids()) {
    const auto index = static_cast<std::size_t>(id.index);
    std::size_t& most = bytes[plan.memory_of[index].index];
    most = std::max(most, plan.slots[index].bytes);
  }
  std::size_t bound = 0;
  for (std::size_t i = 0; i < graph.ops().size(); ++i) {
    std::map<std::int32_t, std::size_t> live;
    for (const ValueId id : graph.ids()) {
      if (graph.storage(id) != id || !is_temporary(graph, id)) continue;
      const auto made = static_cast<std::size_t>(graph.value(id).producer);
      if (made > i || last_use(graph, id) < i) continue;
      const std::int32_t memory = plan.memory_of[static_cast<std::size_t>(id.index)].index;
      live[memory] = bytes[memory];
    }
    std::size_t sum = (needs[i].scratch + rounding - 1) / rounding * rounding;
    for (const auto& [memory, size] : live) sum += (size + rounding - 1) / rounding * rounding;
    bound = std::max(bound, sum);
  }
  return bound;
}

std::vector<std::vector<ValueId>> deaths_of(const Graph& graph) {
  std::vector<std::vector<ValueId>> deaths(graph.ops().size());
  for (const ValueId id : graph.ids()) {
    if (graph.storage(id) != id || !is_temporary(graph, id)) continue;
    if (needed_from(graph, id, graph.ops().size())) continue;  // kept
    deaths[last_use(graph, id)].push_back(id);
  }
  return deaths;
}

}  // namespace stepscope::test
