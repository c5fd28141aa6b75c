// build: which of the two builds of the backend this is. One of build_real.cpp and build_sim.cpp is
// linked; nothing else differs in their host code.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <string>
#include <string_view>

namespace stepscope::cuda {

struct Build {
  std::string_view name;  // of the backend: "cuda", or "cuda-sim"
  bool simulated;         // its device is a model: no time of it was measured
};
extern const Build kBuild;

// Why the library of the products is not there, with what to do; nothing: it is. Loads it.
std::optional<std::string> why_no_library();

}  // namespace stepscope::cuda
