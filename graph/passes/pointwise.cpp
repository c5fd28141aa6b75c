// pointwise: in the making.
// SPDX-License-Identifier: Apache-2.0
#include "graph/passes/fusion.h"

namespace stepscope {

PassResult fuse_pointwise(const Graph& graph) { return {graph, {"not written yet"}}; }

}  // namespace stepscope
