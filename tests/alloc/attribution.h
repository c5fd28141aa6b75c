// Who made an allocation: names for call stacks, and the owner that follows from them.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

#include "tests/alloc/alloc_counter.h"

namespace stepscope::alloc {

enum class Owner : std::uint8_t {
  library,  // a library of a backend, or the kernel of that backend it was inlined into
  own,      // other code of stepscope, or nobody we know: what we cannot name is ours to explain
};

struct Attribution {
  Owner owner = Owner::own;
  std::string frame;  // demangled name of the frame that decided, or "unknown"
};

// Decided by the nearest frame, from the inside out, that is a function of Eigen or of stepscope or
// lies in oneDNN's file; one of stepscope::eigen counts as the library, since Eigen is inlined
// there.
Attribution attribute(const Allocation& allocation);

// The whole stack, a line per frame.
std::string describe(const Allocation& allocation);

}  // namespace stepscope::alloc
