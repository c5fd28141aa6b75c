// --model: the name of a workload, or a step file (docs/step-files.md).
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include "ops/models/model.h"

namespace stepscope::cli {

// Text that contains '/' or ends in .step is a file.
bool is_step_file(const std::string& model);

// The model of that name, or of that file, which is called as the file without folder and ending.
// Throws io when the file cannot be read; bad_input for what make_model(), parse_step() and
// make_step_model() refuse.
Model model_of(const std::string& model, const OptimizerSpec& optimizer);

}  // namespace stepscope::cli
