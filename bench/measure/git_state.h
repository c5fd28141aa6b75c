// The state of the sources that the program was built from.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "bench/record/samples.h"

namespace stepscope {

// Fact `git_state`: the commit, and whether tracked files differed from it, as of the last build.
// Built from an archive, or without git, it has no value. git_state.cmake writes the definition.
Fact git_state();

}  // namespace stepscope
