// Random steps for tests of plans, passes and hazards, and the ops they are made of.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "graph/plan/plan.h"
#include "ops/ir/graph.h"

namespace stepscope::test {

// An op of any inputs and one output of the type in FillAttrs; may run in place over each input.
OpKind mixing_op();
// The same with a second, saved output and nothing in place.
OpKind saving_op();

// Appends a mixing or saving op. Different values make different mixtures.
ValueId mix(Graph& graph, std::vector<ValueId> inputs, const TensorType& type, double value = 0.0);
struct MixedAndSaved {
  ValueId mixed, saved;
};
MixedAndSaved mix_and_save(Graph& graph, std::vector<ValueId> inputs, const TensorType& type);

struct Step {
  std::shared_ptr<const Graph> graph;
  std::vector<Needs> needs;  // per op
};

// The graph with kernels that need nothing and can run in place as `in_place` says
// (Needs::in_place).
Step step_of(Graph graph, std::uint32_t in_place = ~0U);

// Up to 50 ops with fan-out, views, saved and kept values, repeated ops, values nobody reads, and
// updates;
// scratch, wide layouts and in-place kernels here and there. The same seed gives the same step.
Step random_step(std::uint64_t seed);

// Shaped like the training step of a small CNN: activations that shrink from layer to layer and are
// read again, last first, on the way back; a workspace for each convolution.
Step random_cnn(std::uint64_t seed, std::int64_t batch);

// The plan of a step, with a model layout of its own.
Plan plan_of(const Step& step, const PlanOptions& options = {});

}  // namespace stepscope::test
