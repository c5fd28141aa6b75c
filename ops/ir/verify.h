// The IR's law. Every graph that a model, autodiff or a pass leaves must pass it.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string_view>

#include "ops/ir/graph.h"

namespace stepscope {

// Throws bad_graph, beginning with `who`, when
//   - an op reads a value that no earlier op made, or reads a value after its storage was
//   overwritten;
//   - the types, roles or sharing of a value are not what the op's definition says;
//   - an op or a value names one that is not in the graph;
//   - an op reads what it overwrites by another of its inputs, too; an update's gradient may be its
//   parameter, since it is read and written element by element;
//   - a value is kept although its storage was overwritten later;
//   - an op has no phase;
//   - the step is counted more than once, or by an update that is not the last.
void verify(const Graph& graph, std::string_view who);

}  // namespace stepscope
