// What a step must compute: its hash, its arithmetic, and how far rounding may take it.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>

#include "backends/execution/session.h"
#include "bench/compare/compare.h"
#include "bench/data/input_ring.h"

namespace stepscope {

// Arithmetic by the ops' own account: of one op, and of all.
double flops_of(const Graph& graph, std::size_t op);
double flops_of(const Graph& graph);

// All that decides the work, by name: model and the text of its step, optimizer, batches, their
// order and what becomes of partial ones, element type, threads, how denormals are treated, seed,
// the table of library choices, initial parameters and states, whether a loss is computed and
// parameters are updated. Not mode, fusion or backend: arms that differ in those do the same work.
Facts work_facts(Session& session, const CompareSpec& spec, std::int64_t batch,
                 const InputRing& ring);

// The longest sum behind one element of any value: K of the largest product or convolution, the
// elements behind a reduction.
double reduction_length(const Graph& graph);

// How far two orders of the same f32 arithmetic may lie apart, norm of the difference over the
// norm. Errors of a sum of n terms grow as sqrt(n) if they are independent; some such sums follow
// each other in a step. `tf32`: inputs of products are rounded too.
double rounding_tolerance(const Graph& graph, bool tf32 = false);

}  // namespace stepscope
