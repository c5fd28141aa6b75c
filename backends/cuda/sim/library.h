// library: what reset() and finish() (control.h) need of the simulated libraries, cuBLASLt and
// cuDNN: their handles and descriptors.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

namespace stepscope::cudasim {

// Leaks, one line each: handles and descriptors that were made and not destroyed.
std::vector<std::string> live_library_objects();
// Forgets them all; a handle or descriptor of before is refused from then on.
void reset_libraries();

}  // namespace stepscope::cudasim
