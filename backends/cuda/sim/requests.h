// requests: the arguments of calls, checked and made into work. Stream calls and graph nodes share
// them, so that both refuse the same with the same codes.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cuda_runtime_api.h>

#include <cstddef>

#include "backends/cuda/sim/work.h"

namespace stepscope::cudasim {

// Rule 33, and the parameters copied as CUDA does: 98 for an unknown function, 9 for a grid or
// block beyond the limits, 1 for shared memory beyond them or missing parameters.
cudaError_t make_kernel_call(const void* function, dim3 grid, dim3 block,
                             std::size_t dynamic_shared, void* const* arguments, KernelCall& made);
// 1 for null pointers, a kind that the pointers contradict, or bytes beyond a block; 21 for no kind
// at all. cudaMemcpyDefault becomes what the pointers say.
cudaError_t make_copy(void* to, const void* from, std::size_t bytes, cudaMemcpyKind kind,
                      Copy& made);
// Rows of `width` elements of 1, 2 or 4 bytes: 1 for anything else, for what is not the device's to
// write, and for elements beyond a block.
cudaError_t make_fill(const Fill& wanted, Fill& made);
// Bytes from the first that a fill writes to behind the last.
std::size_t extent_of(const Fill& fill);
// Whether one end is memory that CUDA was never told of; for the lints.
bool has_pageable_end(const Copy& copy);

// The kernel's limit of dynamic shared memory, from cudaFuncSetAttribute; of any kernel until then:
// kSharedLimit.
std::size_t dynamic_shared_limit(const void* function);
void set_dynamic_shared_limit(const void* function, std::size_t bytes);
void reset_requests();

}  // namespace stepscope::cudasim
