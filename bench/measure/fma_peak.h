// The arithmetic peak of one core: fused multiply-adds on registers alone, with the widest vectors
// that the processor has. What shares of it are given in is measured in the same run: the clock of
// a shared machine changes within minutes.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chrono>
#include <string>

namespace stepscope {

struct FmaPeak {
  double flops_per_second = 0.0;  // f32; a multiply-add is two. Median of the samples
  double lowest = 0.0, highest = 0.0;
  std::string vectors;  // "AVX-512", "AVX2", or "128 bit", which multiplies and adds apart
};

// Of the calling thread, over about `time` (at least five samples).
FmaPeak measure_fma_peak(std::chrono::milliseconds time = std::chrono::milliseconds(50));

}  // namespace stepscope
