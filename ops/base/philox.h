// Philox4x32-10, the one source of randomness: counter-based, so that anybody can rebuild any draw.
// It keeps no hidden state: equal (seed, stream, position) give equal numbers on every machine, as
// far as its mathematical library agrees on log, sin and cos where normal() is drawn.
//
// Source: J. Salmon et al., "Parallel random numbers: as easy as 1, 2, 3", SC 2011; the
// known-answer vectors of its Random123 library are checked in tests/ops/philox_test.cpp.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cstdint>
#include <vector>

namespace stepscope {

using PhiloxCounter = std::array<std::uint32_t, 4>;
using PhiloxKey = std::array<std::uint32_t, 2>;

// The bijection itself: ten rounds.
PhiloxCounter philox4x32_10(PhiloxCounter counter, PhiloxKey key);

// A sequence of draws. Key = seed; counter = {position (64 bits), stream (64 bits)}.
// Give each use (initialisation of a parameter, order of an epoch) a stream of its own.
class Philox {
 public:
  explicit Philox(std::uint64_t seed, std::uint64_t stream = 0) : seed_(seed), stream_(stream) {}

  std::uint32_t next_u32();
  std::uint64_t next_u64();

  // In [0, 1): the upper 53 bits of next_u64(), times 2^-53.
  double uniform();
  // In [low, high), rounding aside.
  double uniform(double low, double high);
  // Mean 0, deviation 1: Box-Muller; takes two uniforms and keeps the second value for the next
  // call.
  double normal();
  // In [0, bound), without bias (draws that would bias are rejected). Requires: bound > 0.
  std::uint64_t below(std::uint64_t bound);
  // Fisher-Yates from the last place down: a permutation of 0 .. count-1.
  std::vector<std::uint32_t> permutation(std::uint32_t count);

 private:
  std::uint64_t seed_;
  std::uint64_t stream_;
  std::uint64_t position_ = 0;  // of the next block of four words
  PhiloxCounter block_{};
  unsigned used_ = 4;  // words taken from block_; 4: empty
  bool has_spare_ = false;
  double spare_ = 0.0;
};

}  // namespace stepscope
