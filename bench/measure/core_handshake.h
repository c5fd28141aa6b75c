// How far two cores are from each other: the round trip of a cache line between two pinned threads.
// On a shared machine it changes within minutes, and two-thread times change with it, so times from
// near and far cores are never mixed.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <chrono>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace stepscope {

enum class CoreDistance : std::uint8_t { near, far, not_measured };
std::string_view name(CoreDistance distance);

// Near means below it. On the two-core virtual machines where both occur, cores that share a cache
// took about 100 ns and others about 500 ns: the bound lies in the gap.
inline constexpr double kNearRoundTripNs = 200.0;
CoreDistance classify_round_trip(double round_trip_ns);

struct Handshake {
  CoreDistance distance = CoreDistance::not_measured;
  std::optional<double> round_trip_ns;  // median
  std::array<int, 2> cpus{-1, -1};      // where the two threads ran
  std::string reason;                   // why it was not measured; empty when it was
};

struct HandshakeOptions {
  std::optional<std::array<int, 2>> cpus;  // default: the first two that the caller may run on
  std::chrono::milliseconds limit{1000};   // a core that is kept from us must not hold up a run
};

// Takes about a millisecond. Throws nothing that concerns the machine: one core, a refused pin, no
// thread, no answer within the limit are reasons. The caller's own affinity stays as it is.
Handshake measure_core_handshake(const HandshakeOptions& options = {});

}  // namespace stepscope
