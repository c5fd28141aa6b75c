// Recording a kernel, with the types of its parameters.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "backends/cuda/device_compat.cuh"
#include "tests/backends/cuda/mlp/recorder.h"

namespace stepscope::mlp {

template <class... P>
void add_node(Recorder& recorder, dim3 grid, dim3 block, void (*kernel)(P...), P... arguments) {
  REGISTER_KERNEL(kernel);
  void* pointers[] = {static_cast<void*>(&arguments)...};
  cudaKernelNodeParams params{};
  params.func = reinterpret_cast<void*>(kernel);
  params.gridDim = grid;
  params.blockDim = block;
  params.kernelParams = pointers;
  cudaGraphNode_t node = nullptr;
  check(cudaGraphAddKernelNode(&node, recorder.graph, &recorder.last,
                               recorder.last == nullptr ? 0 : 1, &params),
        "cudaGraphAddKernelNode");
  recorder.last = node;
}

template <class... P, class... A>
void record(Recorder& recorder, dim3 grid, dim3 block, void (*kernel)(P...), A... arguments) {
  if (recorder.graph == nullptr) {
    check(cuda::launch(recorder.stream, grid, block, 0, kernel, arguments...), "a launch");
  } else {
    add_node(recorder, grid, block, kernel, static_cast<P>(arguments)...);
  }
}

}  // namespace stepscope::mlp
