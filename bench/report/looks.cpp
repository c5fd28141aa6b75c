// Looks by mode, fusion and order.
// SPDX-License-Identifier: Apache-2.0
#include "bench/report/looks.h"

#include <iterator>

#include "bench/report/arms.h"

namespace stepscope {
namespace {

constexpr std::size_t kColors = 8, kShapes = 6, kDashes = 3;

std::size_t index_of(std::string_view mode) {
  constexpr std::string_view kModes[] = {"eager", "planned", "graph"};
  for (std::size_t i = 0; i < std::size(kModes); ++i) {
    if (mode == kModes[i]) return i;
  }
  return std::size(kModes);
}

Look look(std::size_t color, std::size_t shape, bool filled, std::size_t dash) {
  return {static_cast<std::uint8_t>(color % kColors), static_cast<std::uint8_t>(shape % kShapes),
          filled, static_cast<std::uint8_t>(dash % kDashes)};
}

}  // namespace

Look look_of_arm(std::string_view mode, std::string_view fusion) {
  const std::size_t index = index_of(mode);
  const bool fused = fusion == kAllPasses;
  return look(index, index, fused, fused ? 0 : fusion == kUnfused ? 1 : 2);
}

// Behind the three modes, so that nobody takes a kind for one; then round.
Look look_of_kind(std::size_t n) { return look(n + 3, n + 3, n < kShapes, n); }

Look look_of_ceiling(std::size_t n) {
  Look ceiling = look(kColors - 1 - n % 4, 0, false, n);
  ceiling.shape = kShapes;  // none
  return ceiling;
}

}  // namespace stepscope
