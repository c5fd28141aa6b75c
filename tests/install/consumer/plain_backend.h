// plain: a backend from outside the tree, with loops for three ops.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>

#include "backends/api/backend.h"

namespace consumer {

// Add, Mul and Softplus in f32; every other op is unsupported.
std::unique_ptr<stepscope::Backend> make_plain_backend(const stepscope::BackendOptions& options);

// The same with a mistake in the last element of a sum, to see the suite find it.
std::unique_ptr<stepscope::Backend> make_defective_backend(
    const stepscope::BackendOptions& options);

}  // namespace consumer
