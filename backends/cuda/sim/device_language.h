// Device language: barriers, warp collectives and arithmetic of CUDA C++ as functions of g++.
//
// Strict where CUDA promises little: __activemask() is the caller's own lane, and shuffles and
// votes order no memory (CUDA C++ Programming Guide, "Warp Vote Functions", "Warp Shuffle
// Functions").
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <bit>
#include <climits>
#include <cmath>
#include <cstdint>
#include <type_traits>

#include "backends/cuda/sim/device_calls.h"

namespace stepscope::cudasim::device {

template <class T>
T shuffle(Collective kind, unsigned mask, T value, int operand, int width, Site site) {
  static_assert(std::is_arithmetic_v<T> && (sizeof(T) == 4 || sizeof(T) == 8),
                "shuffles move values of 4 and 8 bytes");
  using Bits = std::conditional_t<sizeof(T) == 4, std::uint32_t, std::uint64_t>;
  const Offer offer{kind, mask, std::bit_cast<Bits>(value), operand, width, sizeof(T)};
  return std::bit_cast<T>(static_cast<Bits>(collective(offer, site)));
}

inline unsigned vote(Collective kind, unsigned mask, int predicate, Site site) {
  return static_cast<unsigned>(
      collective({.kind = kind, .mask = mask, .value = predicate != 0}, site));
}

}  // namespace stepscope::cudasim::device

inline void __syncthreads(
    stepscope::cudasim::device::Site site = stepscope::cudasim::device::Site::current()) {
  stepscope::cudasim::device::barrier(site);
}

inline void __syncwarp(
    unsigned mask = 0xffffffffu,
    stepscope::cudasim::device::Site site = stepscope::cudasim::device::Site::current()) {
  using namespace stepscope::cudasim::device;
  collective({.kind = Collective::sync_warp, .mask = mask}, site);
}

template <class T>
T __shfl_sync(unsigned mask, T value, int lane, int width = 32,
              stepscope::cudasim::device::Site site = stepscope::cudasim::device::Site::current()) {
  using namespace stepscope::cudasim::device;
  return shuffle(Collective::shuffle_index, mask, value, lane, width, site);
}
template <class T>
T __shfl_up_sync(
    unsigned mask, T value, unsigned delta, int width = 32,
    stepscope::cudasim::device::Site site = stepscope::cudasim::device::Site::current()) {
  using namespace stepscope::cudasim::device;
  return shuffle(Collective::shuffle_up, mask, value, static_cast<int>(delta), width, site);
}
template <class T>
T __shfl_down_sync(
    unsigned mask, T value, unsigned delta, int width = 32,
    stepscope::cudasim::device::Site site = stepscope::cudasim::device::Site::current()) {
  using namespace stepscope::cudasim::device;
  return shuffle(Collective::shuffle_down, mask, value, static_cast<int>(delta), width, site);
}
template <class T>
T __shfl_xor_sync(
    unsigned mask, T value, int lane_mask, int width = 32,
    stepscope::cudasim::device::Site site = stepscope::cudasim::device::Site::current()) {
  using namespace stepscope::cudasim::device;
  return shuffle(Collective::shuffle_xor, mask, value, lane_mask, width, site);
}

inline unsigned __ballot_sync(
    unsigned mask, int predicate,
    stepscope::cudasim::device::Site site = stepscope::cudasim::device::Site::current()) {
  using namespace stepscope::cudasim::device;
  return vote(Collective::ballot, mask, predicate, site);
}
inline int __any_sync(
    unsigned mask, int predicate,
    stepscope::cudasim::device::Site site = stepscope::cudasim::device::Site::current()) {
  using namespace stepscope::cudasim::device;
  return static_cast<int>(vote(Collective::any, mask, predicate, site));
}
inline int __all_sync(
    unsigned mask, int predicate,
    stepscope::cudasim::device::Site site = stepscope::cudasim::device::Site::current()) {
  using namespace stepscope::cudasim::device;
  return static_cast<int>(vote(Collective::all, mask, predicate, site));
}
inline unsigned __activemask() { return 1u << stepscope::cudasim::device::lane(); }

inline void __threadfence_block() { stepscope::cudasim::device::fence_block(); }
inline void __threadfence() { stepscope::cudasim::device::fence_device(); }
inline void __threadfence_system() { stepscope::cudasim::device::fence_device(); }

template <class T>
T __ldg(const T* address) {
  return *address;
}

// Approximations of the device are exact here: their last bits are nobody's to rely on. The C
// library declares the first two for itself.
extern "C" inline float __expf(float x) noexcept { return expf(x); }
extern "C" inline float __logf(float x) noexcept { return logf(x); }
inline float rsqrtf(float x) { return 1.0f / sqrtf(x); }
inline float __fdividef(float x, float y) { return x / y; }

// Saturates, and NaN is 0, as on the device; a plain conversion would be undefined in C++.
inline int __float2int_rn(float x) {
  if (std::isnan(x)) {
    return 0;
  }
  if (x >= 2147483648.0f) {
    return INT_MAX;
  }
  return x < -2147483648.0f ? INT_MIN : static_cast<int>(std::nearbyintf(x));
}
