// Trials: each site's kernel runs once when it is made, so that nothing - lazy loading, a library's
// set-up, a refusal - is first met inside a recording.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <set>
#include <vector>

#include "backends/api/kernel.h"
#include "backends/cuda/stream.h"

namespace stepscope::cuda {

class Trials {
 public:
  // On zeros, and waits; does nothing for a site that was tried before. Throws device.
  void run(const Kernel& kernel);

 private:
  CudaStream stream_;
  std::set<std::vector<std::uint64_t>> tried_;  // sites, as words
};

}  // namespace stepscope::cuda
