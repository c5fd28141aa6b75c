// How many random programs there are of each kind.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

#include "backends/api/dead_memory.h"

namespace stepscope::test {

// A sanitizer slows everything down tenfold and looks for something else: a twentieth is enough for
// it.
inline constexpr std::uint64_t kPrograms = STEPSCOPE_ASAN != 0 ? 50 : 1000;

}  // namespace stepscope::test
