// build: which of the two builds of the backend this is. One of build_real.cpp and build_sim.cpp is
// linked; nothing else differs in their host code.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string_view>

namespace stepscope::cuda {

struct Build {
  std::string_view name;  // of the backend: "cuda", or "cuda-sim"
  bool simulated;         // its times are values of a model
};
extern const Build kBuild;

}  // namespace stepscope::cuda
