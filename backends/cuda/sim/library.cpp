// library: the simulated libraries as one.
// SPDX-License-Identifier: Apache-2.0
#include "backends/cuda/sim/library.h"

#include <utility>

namespace stepscope::cudasim {

std::vector<std::string> live_library_objects() {
  std::vector<std::string> lines = live_cublaslt();
  for (std::string& line : live_cudnn()) lines.push_back(std::move(line));
  return lines;
}

void reset_libraries() {
  reset_cublaslt();
  reset_cudnn();
  reset_cupti();
}

}  // namespace stepscope::cudasim
