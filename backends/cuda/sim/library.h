// library: what reset() and finish() (control.h) need of the simulated libraries, cuBLASLt and
// cuDNN and CUPTI: their handles and descriptors.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

namespace stepscope::cudasim {

// Leaks, one line each: handles and descriptors that were made and not destroyed.
std::vector<std::string> live_library_objects();
// Forgets them all; a handle or descriptor of before is refused from then on.
void reset_libraries();

// Of which:
std::vector<std::string> live_cublaslt();
std::vector<std::string> live_cudnn();
void reset_cublaslt();
void reset_cudnn();
void reset_cupti();

}  // namespace stepscope::cudasim
