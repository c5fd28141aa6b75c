// The step files of docs/examples, and rows to train them on.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "backends/execution/session.h"
#include "ops/ir/step_file.h"

namespace stepscope::test {

// Names without .step, sorted.
const std::vector<std::string>& example_names();
std::string example_text(const std::string& name);
StepFile example_file(const std::string& name);
Model example_model(const std::string& name, const OptimizerSpec& optimizer = {});

// Loads rows of x in [0, 1) and labels; the same for the same step.
void load_rows(Session& session, std::int64_t rows, std::uint64_t step);

}  // namespace stepscope::test
