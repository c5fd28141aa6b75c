// The order of ops: updates move right behind their gradients, where no later op reads the old
// value.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <vector>

#include "ops/ir/graph.h"

namespace stepscope {

// A permutation of the op indices that keeps every dependency: a reader follows its maker, and an
// overwrite follows every reader of the old value. Ops keep their order except that an op which
// overwrites a parameter or state moves as far forward as its inputs and the readers of the old
// value allow. The op that counts the step stays last.
std::vector<std::size_t> schedule(const Graph& graph);

}  // namespace stepscope
