// graph_work: what the parameters of nodes say, as work. Nodes and their copies in executables are
// set from them alike.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cuda_runtime_api.h>

#include "backends/cuda/sim/work.h"

namespace stepscope::cudasim {

// 801 for arguments in the form `extra`; else as make_kernel_call.
cudaError_t work_of(const cudaKernelNodeParams* params, Work& work);
cudaError_t work_of(const cudaMemsetParams* params, Work& work);
cudaError_t work_of(const cudaHostNodeParams* params, Work& work);
// Notes a copy's pageable end: its address is baked in, as a captured one is.
void note_pageable_node(const Work& work);

}  // namespace stepscope::cudasim
