// The backends that a test walks over: those that can be made here and have kernels for its models.
// A build may hold one that lacks an op by design; what is left out for that is said by name.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "backends/registry/registry.h"
#include "ops/models/model.h"

namespace stepscope::test {

// Names in the registry's order. One that answers unsupported for an op of the model's step or
// evaluation is left out and named on stderr, once; throws what else it answers. Null is one of
// them.
std::vector<std::string> backends_that_run(const Registry& registry, const Model& model);
// Those that run all of them.
std::vector<std::string> backends_that_run(const Registry& registry,
                                           const std::vector<std::string>& models);

// A name for test cases: letters, digits and underscores only.
std::string case_name(std::string_view text);

}  // namespace stepscope::test
