// Hazards: a sweep over the bytes of each segment, from low to high.
// SPDX-License-Identifier: Apache-2.0
#include "graph/plan/hazards.h"

#include <algorithm>
#include <array>
#include <tuple>

namespace stepscope {
namespace {

enum class Access : std::uint8_t { read, write };

struct Touch {
  std::size_t begin, end;  // bytes of the segment
  std::size_t op;
  Access access;
};

class Sweep {
 public:
  explicit Sweep(const Plan& plan) {
    const std::span<const Op> ops = plan.graph->ops();
    for (std::size_t i = 0; i < ops.size(); ++i) {
      for (const ValueId id : ops[i].inputs) touch(plan, id, i, Access::read);
      for (const ValueId id : ops[i].outputs) touch(plan, id, i, Access::write);
      touch(plan.scratch[i], i, Access::write);
    }
  }

  std::vector<Edge> run() {
    for (std::vector<Touch>& touches : touches_) sweep(touches);
    // Of several hazards between two ops the first stays.
    std::sort(edges_.begin(), edges_.end(), [](const Edge& a, const Edge& b) {
      return std::tie(a.before, a.after, a.hazard) < std::tie(b.before, b.after, b.hazard);
    });
    const auto same_ops = [](const Edge& a, const Edge& b) {
      return a.before == b.before && a.after == b.after;
    };
    edges_.erase(std::unique(edges_.begin(), edges_.end(), same_ops), edges_.end());
    return std::move(edges_);
  }

 private:
  void touch(const Plan& plan, ValueId id, std::size_t op, Access access) {
    touch(plan.slots[static_cast<std::size_t>(id.index)], op, access);
  }

  void touch(const Slot& slot, std::size_t op, Access access) {
    if (slot.bytes == 0) return;
    touches_[static_cast<std::size_t>(slot.segment)].push_back(
        {slot.offset, slot.offset + slot.bytes, op, access});
  }

  void sweep(std::vector<Touch>& touches) {
    std::sort(touches.begin(), touches.end(),
              [](const Touch& a, const Touch& b) { return a.begin < b.begin; });
    std::vector<Touch> open;  // those that reach the byte where we are
    for (const Touch& each : touches) {
      std::erase_if(open, [&](const Touch& other) { return other.end <= each.begin; });
      for (const Touch& other : open) meet(each, other);
      open.push_back(each);
    }
  }

  void meet(const Touch& a, const Touch& b) {
    if (a.op == b.op || (a.access == Access::read && b.access == Access::read)) return;
    const auto& [before, after] = a.op < b.op ? std::tie(a, b) : std::tie(b, a);
    const Hazard hazard = before.access == Access::read  ? Hazard::write_after_read
                          : after.access == Access::read ? Hazard::read_after_write
                                                         : Hazard::write_after_write;
    edges_.push_back({before.op, after.op, hazard});
  }

  std::array<std::vector<Touch>, 2> touches_;  // per segment
  std::vector<Edge> edges_;
};

}  // namespace

std::vector<Edge> hazards(const Plan& plan) { return Sweep(plan).run(); }

}  // namespace stepscope
