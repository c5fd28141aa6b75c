// A graph as text, for people and golden files, and as DOT, for pictures.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include "ops/ir/graph.h"

namespace stepscope {

// One line per declared value and per op, in order:
//   input x : f32{32, 784}
//   %4 : f32{32, 128} = MatMul(x, w1)                        # forward
//   keep loss
//   keep flat = %4{4096}
// A view has no line: it is written where it is read, as the value it shows under another shape.
std::string to_text(const Graph& graph);

// Graphviz source: ops as boxes coloured by phase, declared values as ellipses, edges with types.
std::string to_dot(const Graph& graph);

}  // namespace stepscope
