// A graph as text, for people and golden files, and as DOT, for pictures.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <string_view>

#include "ops/ir/graph.h"

namespace stepscope {

// The language of step files (docs/step-files.md), sizes as numbers: parse_step() reads it, and
// the graph made from it prints the same. One line per declared value and per op, in order:
//   stepscope-ir 1
//   input x : f32{32, 784}
//   %0 : f32{32, 128} = MatMul(x, w1) {transpose_a = false, ...}   @ forward
//   flat = %0{4096}
//   keep loss
// A view without a name has no line: it is written where it is read, as the value it shows under
// another shape.
std::string to_text(const Graph& graph);

// Graphviz source: ops as boxes coloured by phase, declared values as ellipses, edges with types.
std::string to_dot(const Graph& graph);
// The colour of its boxes, "#rrggbb".
std::string_view phase_colour(PhaseSet phases);

}  // namespace stepscope
