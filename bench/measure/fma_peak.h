// The arithmetic peak of one core: fused multiply-adds on registers alone, with the widest vectors
// that the processor has. What shares of it are given in is measured in the same run: the clock of
// a shared machine changes within minutes.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chrono>
#include <cstdint>
#include <string>

namespace stepscope {

struct FmaPeak {
  double flops_per_second = 0.0;  // f32; a multiply-add is two. Median of the samples
  double lowest = 0.0, highest = 0.0;
  std::int64_t samples = 0;
  std::string vectors;  // "AVX-512", "AVX2", or "128 bit", which multiplies and adds apart
};

// One sample after the other, for those who stamp themselves: each a fixed count of multiply-adds,
// less than a millisecond.
class FmaProbe {
 public:
  FmaProbe();
  double flops() const { return flops_; }  // of a sample
  const std::string& vectors() const { return vectors_; }
  void run();

 private:
  float (*run_)(std::int64_t rounds) = nullptr;
  double flops_ = 0.0;
  std::string vectors_;
  volatile float sink_ = 0.0F;  // so that no sample is left out
};

// Of the calling thread, over about `time` (at least five samples).
FmaPeak measure_fma_peak(std::chrono::milliseconds time = std::chrono::milliseconds(50));

}  // namespace stepscope
