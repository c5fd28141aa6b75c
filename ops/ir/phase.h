// Phases of a step, and sets of them: a fused op belongs to several.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <string_view>

namespace stepscope {

enum class Phase : std::uint8_t { input_copy, forward, loss, backward, update, readback };

inline constexpr std::array kPhases = {Phase::input_copy, Phase::forward, Phase::loss,
                                       Phase::backward,   Phase::update,  Phase::readback};

std::string_view name(Phase phase);

class PhaseSet {
 public:
  constexpr PhaseSet() = default;
  constexpr PhaseSet(Phase phase) : bits_(bit(phase)) {}  // a phase is a set of one

  constexpr bool contains(Phase phase) const { return (bits_ & bit(phase)) != 0; }
  constexpr std::uint8_t bits() const { return bits_; }
  static constexpr PhaseSet from_bits(std::uint8_t bits) {
    PhaseSet set;
    set.bits_ = bits;
    return set;
  }
  friend constexpr PhaseSet operator|(PhaseSet a, PhaseSet b) {
    return from_bits(static_cast<std::uint8_t>(a.bits_ | b.bits_));
  }
  friend constexpr bool operator==(PhaseSet, PhaseSet) = default;

 private:
  static constexpr std::uint8_t bit(Phase phase) {
    return static_cast<std::uint8_t>(1U << static_cast<unsigned>(phase));
  }
  std::uint8_t bits_ = 0;
};

std::string to_string(PhaseSet phases);  // backward+update

}  // namespace stepscope
