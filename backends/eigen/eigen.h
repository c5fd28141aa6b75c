// eigen: Eigen's products and pointwise expressions, own kernels (backends/cpu) for what Eigen
// lacks or computes otherwise than specified; the launch log tells which made a call. Refuses every
// element type but f32, and what Eigen would need more stack or threads for than there are.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>

#include "backends/api/backend.h"
#include "backends/cpu/isa.h"

namespace stepscope::eigen {

// On the best instruction set of the machine. Products run on
// options.threads OpenMP threads, all else on the calling one.
// Throws bad_input for a thread count below one; device when OpenMP cannot give the threads, when
// their stacks are too small for Eigen's packing buffers, or within a parallel region.
// Requires: the threads that launch have a stack like the thread that makes the backend, and launch
// outside parallel regions. Backends of different thread counts may be used side by side.
std::unique_ptr<Backend> make_backend(const BackendOptions& options);

// The same on one instruction set: for tests and for comparing them. Throws unsupported when the
// machine cannot run it.
std::unique_ptr<Backend> make_backend(const BackendOptions& options, cpu::Isa isa);

}  // namespace stepscope::eigen
