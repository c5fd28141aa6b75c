// capture_state: the captures that have not ended; between the files of capture alone.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "backends/cuda/sim/capture.h"

namespace stepscope::cudasim {

struct CaptureState {
  std::vector<std::shared_ptr<Capture>> live;
  unsigned long long next_id = 1;  // not reset: cudaStreamGetCaptureInfo promises that
  std::uint64_t generation = 1;    // of reset_captures(); modes of threads belong to one
  std::string fault;               // why the last capture became invalid
};
CaptureState& capture_state();

}  // namespace stepscope::cudasim
