// make_plan: what each value needs and for how long, who writes in place over whom, where all lie.
// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <bit>
#include <utility>

#include "graph/plan/placement.h"
#include "graph/plan/plan.h"
#include "ops/base/check.h"
#include "ops/ir/op_def.h"

namespace stepscope {
namespace {

std::size_t at(ValueId id) { return static_cast<std::size_t>(id.index); }

class Planner {
 public:
  Planner(const Graph& graph, std::span<const Needs> needs, const ModelLayout& layout,
          const PlanOptions& options)
      : graph_(graph),
        needs_(needs),
        layout_(layout),
        options_(options),
        kept_(graph.values().size()),
        bytes_(graph.values().size()) {
    check(needs.size() == graph.ops().size(), Fault::bad_graph, "make_plan: {} ops, needs of {}",
          graph.ops().size(), needs.size());
    check(std::has_single_bit(options.alignment), Fault::bad_graph,
          "make_plan: the alignment must be a power of two, got {}", options.alignment);
    live_ = lifetimes(graph);
    for (const ValueId id : graph.ids()) {
      if (graph.value(id).kept) kept_[at(graph.storage(id))] = true;
    }
  }

  Plan run() {
    plan_.alignment = options_.alignment;
    plan_.slots.resize(graph_.values().size());
    plan_.scratch.resize(graph_.ops().size());
    plan_.dies_after.resize(graph_.ops().size());
    measure();
    list_deaths();
    share();
    place_arena();
    place_model();
    for (const ValueId id : graph_.ids()) plan_.slots[at(id)] = plan_.slots[at(graph_.storage(id))];
    return std::move(plan_);
  }

 private:
  bool in_arena(ValueId id) const {
    const Value& value = graph_.value(id);
    return value.sharing == Sharing::own && value.producer >= 0;
  }

  void measure() {
    for (std::size_t i = 0; i < graph_.ops().size(); ++i) {
      const Op& op = graph_.ops()[i];
      const std::vector<std::size_t>& asked = needs_[i].output_bytes;
      check(asked.empty() || asked.size() == op.outputs.size(), Fault::bad_graph,
            "make_plan: op {} ({}) has {} outputs, needs name the bytes of {}", i, name(op.kind),
            op.outputs.size(), asked.size());
      for (std::size_t k = 0; k < op.outputs.size(); ++k) {
        const ValueId id = op.outputs[k];
        const std::size_t dense = graph_.type(id).bytes();
        bytes_[at(id)] = graph_.value(id).role == Role::saved ? needs_[i].saved
                         : asked.empty()                      ? dense
                                                              : asked[k];
        check(graph_.value(id).role == Role::saved || bytes_[at(id)] >= dense, Fault::bad_graph,
              "make_plan: op {} ({}) asks {} bytes for output {}, a dense one has {}", i,
              name(op.kind), bytes_[at(id)], k, dense);
      }
    }
  }

  void list_deaths() {
    for (const ValueId id : graph_.ids()) {
      if (!in_arena(id) || kept_[at(id)]) continue;
      plan_.dies_after[static_cast<std::size_t>(live_[at(id)].last)].push_back(id);
    }
  }

  void share() {
    plan_.memory_of = graph_.ids();
    for (std::size_t i = 0; i < graph_.ops().size() && options_.in_place == InPlace::on; ++i) {
      const Op& op = graph_.ops()[i];
      if (op.outputs.empty() || !in_arena(op.outputs[0])) continue;
      const ValueId input = input_to_overwrite(i);
      if (input.valid()) plan_.memory_of[at(op.outputs[0])] = plan_.memory_of[at(input)];
    }
    for (const ValueId id : graph_.ids()) {
      plan_.memory_of[at(id)] = plan_.memory_of[at(graph_.storage(id))];
    }
  }

  // Storage of the first input that output 0 of op `i` can be written over; invalid when none.
  ValueId input_to_overwrite(std::size_t i) const {
    const Op& op = graph_.ops()[i];
    const std::uint32_t allowed = op_def(op.kind).in_place & needs_[i].in_place;
    const auto allows = [&](std::size_t k) { return k < 32 && (allowed >> k & 1U) != 0; };
    for (std::size_t k = 0; k < op.inputs.size(); ++k) {
      const ValueId input = graph_.storage(op.inputs[k]);
      if (!allows(k) || !in_arena(input) || kept_[at(input)]) continue;
      if (live_[at(input)].last != static_cast<std::int32_t>(i)) continue;
      if (bytes_[at(input)] < bytes_[at(op.outputs[0])]) continue;
      // Read through a second operand as well: only if that may be written over, too.
      bool safe = true;
      for (std::size_t other = 0; other < op.inputs.size(); ++other) {
        safe = safe && (graph_.storage(op.inputs[other]) != input || allows(other));
      }
      if (safe) return input;
    }
    return {};
  }

  void place_arena() {
    std::vector<Block> blocks;  // unrounded; one for each memory, then the scratches
    std::vector<std::size_t> block_of(graph_.values().size());
    for (const ValueId id : graph_.ids()) {
      if (!in_arena(id)) continue;
      plan_.bytes.no_reuse += round_up(bytes_[at(id)], options_.alignment);
      const ValueId memory = plan_.memory_of[at(id)];
      if (memory == id) {
        block_of[at(id)] = blocks.size();
        blocks.push_back({bytes_[at(id)], live_[at(id)].first, live_[at(id)].last});
      } else {  // made by a later op than all that were in this memory before
        block_of[at(id)] = block_of[at(memory)];
        blocks[block_of[at(id)]].last = live_[at(id)].last;
      }
    }
    const std::size_t first_scratch = blocks.size();
    for (std::size_t i = 0; i < needs_.size(); ++i) {
      const auto op = static_cast<std::int32_t>(i);
      blocks.push_back({needs_[i].scratch, op, op});
      plan_.bytes.no_reuse += round_up(needs_[i].scratch, options_.alignment);
    }
    plan_.bytes.bound = peak(blocks);
    for (Block& block : blocks) block.bytes = round_up(block.bytes, options_.alignment);
    const Placement placement = place(blocks, options_.search_rounds);
    plan_.bytes.arena = placement.bytes;
    for (const ValueId id : graph_.ids()) {
      if (!in_arena(id)) continue;
      plan_.slots[at(id)] = {Segment::arena, placement.offsets[block_of[at(id)]], bytes_[at(id)]};
    }
    for (std::size_t i = 0; i < needs_.size(); ++i) {
      plan_.scratch[i] = {Segment::arena, placement.offsets[first_scratch + i], needs_[i].scratch};
    }
  }

  void place_model() {
    for (const ValueId id : graph_.ids()) {
      const Value& value = graph_.value(id);
      if (value.sharing != Sharing::own || in_arena(id)) continue;
      const ModelLayout::Entry& entry = layout_.at(value.name);
      check(entry.role == value.role && entry.bytes >= value.type.bytes(), Fault::bad_graph,
            "make_plan: {} '{}' needs {} bytes, the model layout has {} '{}' of {}",
            name(value.role), value.name, value.type.bytes(), name(entry.role), value.name,
            entry.bytes);
      check(entry.offset % options_.alignment == 0, Fault::bad_graph,
            "make_plan: '{}' lies at {} in the model layout, no multiple of {}", value.name,
            entry.offset, options_.alignment);
      plan_.slots[at(id)] = {Segment::model, entry.offset, value.type.bytes()};
    }
  }

  const Graph& graph_;
  std::span<const Needs> needs_;
  const ModelLayout& layout_;
  const PlanOptions& options_;
  std::vector<Lifetime> live_;      // per value; of its storage
  std::vector<bool> kept_;          // per storage: itself or a view of it
  std::vector<std::size_t> bytes_;  // per value in the arena
  Plan plan_;
};

}  // namespace

Plan make_plan(std::shared_ptr<const Graph> graph, std::span<const Needs> needs,
               const ModelLayout& layout, const PlanOptions& options) {
  check(graph != nullptr, Fault::bad_graph, "make_plan: there is no graph");
  Plan plan = Planner(*graph, needs, layout, options).run();
  plan.graph = std::move(graph);
  return plan;
}

}  // namespace stepscope
