// Best fit, largest first, and the local search over the order of placing.
// SPDX-License-Identifier: Apache-2.0
#include "graph/plan/placement.h"

#include <algorithm>
#include <limits>
#include <numeric>
#include <optional>
#include <utility>

#include "ops/base/philox.h"

namespace stepscope {
namespace {

using Order = std::vector<std::uint32_t>;  // block indices

class Placer {
 public:
  explicit Placer(std::span<const Block> blocks) : offsets_(blocks.size()) {
    for (std::uint32_t i = 0; i < blocks.size(); ++i) {
      if (blocks[i].bytes > 0) by_start_.push_back({blocks[i], i});
    }
    std::stable_sort(by_start_.begin(), by_start_.end(),
                     [](const Entry& a, const Entry& b) { return a.block.first < b.block.first; });
    for (std::size_t i = 0; i < by_start_.size(); i += kGroup) {
      const std::size_t end = std::min(i + kGroup, by_start_.size());
      Group group{i, end, by_start_[i].block.first, 0};
      for (std::size_t k = i; k < end; ++k)
        group.last = std::max(group.last, by_start_[k].block.last);
      groups_.push_back(group);
    }
  }

  // Places (into by_start_) of the blocks, largest first; of equals the earlier one first.
  Order largest_first() const {
    Order order(by_start_.size());
    std::iota(order.begin(), order.end(), 0U);
    std::stable_sort(order.begin(), order.end(), [&](std::uint32_t a, std::uint32_t b) {
      return by_start_[a].block.bytes > by_start_[b].block.bytes;
    });
    return order;
  }

  // Bytes of the arena when blocks are placed in that order; gives up, with no value, as soon as it
  // passes `limit`. The first `unchanged` of the order stand where the accepted fit has them.
  std::optional<std::size_t> fit(const Order& order, std::size_t unchanged, std::size_t limit) {
    for (Entry& entry : by_start_) entry.placed = false;
    std::size_t arena = 0;
    for (std::size_t i = 0; i < order.size(); ++i) {
      Entry& entry = by_start_[order[i]];
      entry.offset = i < unchanged ? offsets_[entry.index] : best_gap(entry.block);
      entry.placed = true;
      arena = std::max(arena, entry.offset + entry.block.bytes);
      if (arena > limit) return std::nullopt;
    }
    return arena;
  }

  // Takes the last fit, a complete one, for the answer.
  void accept() {
    for (const Entry& entry : by_start_) offsets_[entry.index] = entry.offset;
  }

  // Where in `order` the blocks stand that end above `bytes` in the accepted fit.
  std::vector<std::size_t> ending_above(const Order& order, std::size_t bytes) const {
    std::vector<std::size_t> positions;
    for (std::size_t i = 0; i < order.size(); ++i) {
      const Entry& entry = by_start_[order[i]];
      if (offsets_[entry.index] + entry.block.bytes > bytes) positions.push_back(i);
    }
    return positions;
  }

  std::vector<std::size_t> offsets() && { return std::move(offsets_); }

 private:
  struct Entry {
    Block block;
    std::uint32_t index = 0;  // in the caller's list
    bool placed = false;
    std::size_t offset = 0;
  };
  // Neighbours in time come in groups, so that a step of 100,000 ops is not compared pair by pair.
  static constexpr std::size_t kGroup = 64;
  struct Group {
    std::size_t begin, end;    // in by_start_
    std::int32_t first, last;  // ops
  };
  using Range = std::pair<std::size_t, std::size_t>;  // bytes

  void collect_neighbours(const Block& block) {
    neighbours_.clear();
    for (const Group& group : groups_) {
      if (group.first > block.last) break;
      if (group.last < block.first) continue;
      for (std::size_t i = group.begin; i < group.end; ++i) {
        const Entry& other = by_start_[i];
        if (!other.placed || other.block.first > block.last || other.block.last < block.first)
          continue;
        neighbours_.emplace_back(other.offset, other.offset + other.block.bytes);
      }
    }
    std::sort(neighbours_.begin(), neighbours_.end());
  }

  // The smallest gap between the placed blocks that are live together with this one; the lowest of
  // equals; behind them all if there is none.
  std::size_t best_gap(const Block& block) {
    collect_neighbours(block);
    std::optional<Range> best;  // bytes left over, offset
    std::size_t free_from = 0;
    for (const auto& [begin, end] : neighbours_) {
      if (begin >= free_from + block.bytes) {
        const Range gap{begin - free_from - block.bytes, free_from};
        if (!best || gap < *best) best = gap;
      }
      free_from = std::max(free_from, end);
    }
    return best ? best->second : free_from;
  }

  std::vector<Entry> by_start_;
  std::vector<Group> groups_;
  std::vector<Range> neighbours_;  // of the block being placed; kept for its memory
  std::vector<std::size_t> offsets_;
};

void move_forward(Order& order, std::size_t from, std::size_t to) {
  const auto begin = order.begin();
  std::rotate(begin + static_cast<std::ptrdiff_t>(to), begin + static_cast<std::ptrdiff_t>(from),
              begin + static_cast<std::ptrdiff_t>(from) + 1);
}

}  // namespace

std::size_t peak(std::span<const Block> blocks) {
  std::int32_t last_op = -1;
  for (const Block& block : blocks) last_op = std::max(last_op, block.last);
  std::vector<std::size_t> begins(static_cast<std::size_t>(last_op + 1));
  std::vector<std::size_t> ends(begins.size());
  for (const Block& block : blocks) {
    begins[static_cast<std::size_t>(block.first)] += block.bytes;
    ends[static_cast<std::size_t>(block.last)] += block.bytes;
  }
  std::size_t live = 0;
  std::size_t most = 0;
  for (std::size_t op = 0; op < begins.size(); ++op) {
    live += begins[op];
    most = std::max(most, live);
    live -= ends[op];
  }
  return most;
}

Placement place(std::span<const Block> blocks, int search_rounds) {
  Placer placer(blocks);
  Order order = placer.largest_first();
  const std::size_t bound = peak(blocks);
  std::size_t arena = *placer.fit(order, 0, std::numeric_limits<std::size_t>::max());
  placer.accept();
  if (arena == bound) return {std::move(placer).offsets(), arena};

  constexpr std::uint64_t kSeed = 1;  // any fixed number: plans must not differ between runs
  Philox draws(kSeed);
  const auto draw = [&](std::size_t below) { return static_cast<std::size_t>(draws.below(below)); };
  std::vector<std::size_t> high = placer.ending_above(order, bound);
  for (int round = 0; round < search_rounds && arena > bound; ++round) {
    // A block that ends too high chooses earlier. That alone gets stuck, so every other round swaps
    // any two.
    Order changed = order;
    std::size_t to = 0;
    if (round % 2 == 0) {
      const std::size_t from = high[draw(high.size())];
      to = draw(from + 1);
      move_forward(changed, from, to);
    } else {
      const std::size_t from = draw(changed.size());
      to = draw(from + 1);
      std::swap(changed[from], changed[to]);
    }
    const std::optional<std::size_t> bytes = placer.fit(changed, to, arena);
    if (!bytes) continue;
    order = std::move(changed);
    arena = *bytes;
    placer.accept();
    high = placer.ending_above(order, bound);
  }
  return {std::move(placer).offsets(), arena};
}

}  // namespace stepscope
