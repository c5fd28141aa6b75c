// layout: in the making.
// SPDX-License-Identifier: Apache-2.0
#include "graph/passes/fusion.h"

namespace stepscope {

Pass layout_pass(LayoutChooser&) {
  return {"layout", "values in the layouts that the backend wants",
          [](const Graph& graph) { return PassResult(graph, {"not written yet"}); }};
}

}  // namespace stepscope
