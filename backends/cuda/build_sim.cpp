// The build for the simulator: tests without a GPU, and stepscope-sim.
// SPDX-License-Identifier: Apache-2.0
#include "backends/cuda/build.h"

namespace stepscope::cuda {

const Build kBuild{.name = "cuda-sim", .simulated = true};

std::optional<std::string> why_no_library() { return std::nullopt; }  // it is part of the simulator

}  // namespace stepscope::cuda
