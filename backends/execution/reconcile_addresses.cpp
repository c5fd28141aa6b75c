// Follows each step of the log: where was a value written, where is it read, what lies there by
// then.
// SPDX-License-Identifier: Apache-2.0
#include "backends/execution/reconcile_addresses.h"

#include <cstdint>
#include <vector>

#include "ops/base/check.h"

namespace stepscope {
namespace {

std::size_t at(ValueId id) { return static_cast<std::size_t>(id.index); }

class AddressWalk {
 public:
  AddressWalk(const Program& program, Mode mode, const ModelMemory& memory)
      : program_(program),
        graph_(*program.graph),
        mode_(mode),
        memory_(memory),
        lives_(lifetimes(graph_)) {}

  void call(const LogEntry& entry) {
    if (entry.op == 0 || places_.empty()) begin_step();
    const Op& op = graph_.ops()[entry.op];
    entry_ = &entry;
    std::byte* const* operand = entry.operands;
    for (const ValueId id : op.inputs) check_input(id, *operand++);
    for (const ValueId id : op.outputs) check_output(id, *operand++);
    check_scratch(*operand);
  }

 private:
  // A block of bytes that holds a value; data == nullptr: not written yet in this step.
  struct Place {
    std::byte* data = nullptr;
    std::size_t bytes = 0;
  };

  static bool overlap(const Place& a, const Place& b) {
    return a.data < b.data + b.bytes && b.data < a.data + a.bytes;
  }

  std::string who() const {
    return fmt::format("reconcile: op {} ({}) in step {}", entry_->op,
                       name(graph_.ops()[entry_->op].kind), entry_->step);
  }

  void begin_step() {
    places_.assign(graph_.values().size(), {});
    for (const ValueId id : graph_.ids()) {
      const Value& value = graph_.value(id);
      if (value.producer >= 0 || value.sharing != Sharing::own) continue;
      places_[at(id)] = {memory_.address(value.name), value.type.bytes()};
    }
  }

  void check_alignment(const std::byte* data) const {
    const auto address = reinterpret_cast<std::uintptr_t>(data);
    check(address % program_.plan.alignment == 0, Fault::device,
          "{} was given an address {} bytes off the alignment of {}", who(),
          address % program_.plan.alignment, program_.plan.alignment);
  }

  void check_input(ValueId id, const std::byte* data) const {
    check_alignment(data);
    const Place& place = places_[at(graph_.storage(id))];
    // A log may begin within a step; what was written before its first entry is unknown.
    check(place.data == nullptr || data == place.data, Fault::device,
          "{} read {} at {} bytes from where it was written", who(), graph_.label(id),
          data - place.data);
  }

  void check_output(ValueId id, std::byte* data) {
    check_alignment(data);
    const Value& value = graph_.value(id);
    Place& place = places_[at(value.storage)];
    if (value.sharing == Sharing::overwrite) {
      check(data == place.data, Fault::device, "{} wrote {} at {} bytes from its memory", who(),
            graph_.label(id), data - place.data);
      return;
    }
    place = {data, program_.plan.slots[at(id)].bytes};
    check_free(place, value.storage, "wrote " + graph_.label(id));
  }

  void check_scratch(std::byte* data) const {
    if (data == nullptr) return;
    check_alignment(data);
    check_free({data, program_.kernels[entry_->op]->needs().scratch}, {}, "used scratch");
  }

  // No value that is still wanted lies there, other than `self` and what it may be written over.
  void check_free(const Place& place, ValueId self, const std::string& did) const {
    const auto op = static_cast<std::int32_t>(entry_->op);
    for (const ValueId id : graph_.ids()) {
      const Place& other = places_[at(id)];
      if (id == self || other.data == nullptr || !overlap(place, other)) continue;
      const std::int32_t last = lives_[at(id)].last;
      if (last < op || (last == op && self.valid() && may_take_over(self, id))) continue;
      fail(Fault::device, "{} {} over {}, which op {} reads last", who(), did, graph_.label(id),
           last);
    }
  }

  // Eager shares nothing in place.
  bool may_take_over(ValueId self, ValueId other) const {
    return mode_ != Mode::eager &&
           program_.plan.memory_of[at(self)] == program_.plan.memory_of[at(other)];
  }

  const Program& program_;
  const Graph& graph_;
  Mode mode_;
  const ModelMemory& memory_;
  std::vector<Lifetime> lives_;
  std::vector<Place> places_;  // per storage
  const LogEntry* entry_ = nullptr;
};

}  // namespace

void check_addresses(const Program& program, std::span<const LogEntry> log, Mode mode,
                     const ModelMemory& memory) {
  AddressWalk walk(program, mode, memory);
  for (const LogEntry& entry : log) walk.call(entry);
}

}  // namespace stepscope
