// Attributes of PointwiseChain: a straight program of pointwise ops on one running value.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <string_view>

#include "ops/ir/op_kind.h"

namespace stepscope {

// What a step works on: the running value alone, or together with the op's next input.
enum class ChainOperands : std::uint8_t {
  current,         // f(current)
  current_first,   // f(current, next input)
  current_second,  // f(next input, current)
  both,            // f(current, current)
};

std::string_view name(ChainOperands operands);

struct ChainStep {
  OpKind kind{};
  ChainOperands operands = ChainOperands::current;
  double factor = 0.0;  // of Scale; zero for all others
  friend bool operator==(const ChainStep&, const ChainStep&) = default;
};

// How many operands a step of that kind takes, 1 or 2; 0: it may not be a step of a chain.
int chain_operands(OpKind kind);

inline constexpr std::size_t kMaxChainSteps = 12;

// The running value starts as input 0; places of `steps` from `count` on are as they were made.
struct ChainAttrs {
  std::int64_t count = 0;
  std::array<ChainStep, kMaxChainSteps> steps{};
  friend bool operator==(const ChainAttrs&, const ChainAttrs&) = default;
  template <class Self, class Visit>
  static void fields(Self& self, Visit&& visit) {
    visit("count", self.count);
    const auto most = static_cast<std::int64_t>(kMaxChainSteps);
    for (std::int64_t i = 0; i < std::clamp<std::int64_t>(self.count, 0, most); ++i) {
      visit("step", self.steps[static_cast<std::size_t>(i)]);
    }
  }
};

}  // namespace stepscope
