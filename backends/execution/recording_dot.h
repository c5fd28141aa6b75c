// recording_dot: the nodes of a recording as a picture: what was captured, or built of nodes.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <string_view>

#include "backends/api/stream.h"
#include "ops/ir/graph.h"

namespace stepscope {

// Graphviz source: one box a node, in the order of replay, with op, phases, and who computes it;
// coloured by phase as to_dot(graph). `label` stands above it: who recorded, where that is told.
// Requires: the recording is of the graph.
std::string to_dot(const Recording& recording, const Graph& graph, std::string_view label = {});

}  // namespace stepscope
