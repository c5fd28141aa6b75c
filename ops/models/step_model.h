// A model from a step file (docs/step-files.md): the file says inputs, parameters and the way to
// the loss; gradients, updates, evaluation and initial values follow, as for built-in models.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string_view>

#include "ops/ir/step_file.h"
#include "ops/models/model.h"

namespace stepscope {

// What the file must hold:
//   input x : f32{B, ...}, and labels : i32{B} if SoftmaxCrossEntropy reads them;
//   parameters of f32, each with a start and each on the way to the loss;
//   a computed value `loss` : f32{}; with labels and several SoftmaxCrossEntropy, `logits`.
// Throws bad_input with the place: what is missing, what a step file may not hold (other inputs,
// states, updates, ops of the phases backward and update), and whatever instantiate() says.
Model make_step_model(const StepFile& file, std::string_view name,
                      const OptimizerSpec& optimizer = {});

}  // namespace stepscope
