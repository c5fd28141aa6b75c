// submit: the one function that sends device code where a Submission says. Live, captured,
// node-built and simulated launches share it, and so share every kernel.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cuda_runtime.h>

#include <cstddef>
#include <cstdint>
#include <tuple>
#include <type_traits>
#include <utility>

#include "backends/cuda/device_compat.cuh"
#include "backends/cuda/submission.h"

namespace stepscope::cuda {

// An argument's part of the digest: of a pointer its address, of a struct that has them those that
// its each_address(visit) visits.
template <class Argument>
void add_addresses(std::uint64_t& digest, const Argument& argument) {
  const auto add = [&digest](const void* address) {
    digest = (digest ^ reinterpret_cast<std::uintptr_t>(address)) * 0x9E3779B97F4A7C15;
    digest ^= digest >> 32;
  };
  if constexpr (std::is_pointer_v<Argument>) {
    add(argument);
  } else if constexpr (requires { argument.each_address(add); }) {
    argument.each_address(add);
  }
}

// Requires: arguments convert to the kernel's parameters, as in a call.
template <class... P, class... A>
cudaError_t submit(Submission& to, dim3 grid, dim3 block, std::size_t dynamic_shared,
                   void (*kernel)(P...), A&&... arguments) {
  if (to.addresses != nullptr) {
    (add_addresses(*to.addresses, static_cast<P>(arguments)), ...);
  }
  if (to.graph == nullptr) {
    return launch(to.stream, grid, block, dynamic_shared, kernel, std::forward<A>(arguments)...);
  }
  REGISTER_KERNEL(kernel);
  std::tuple<P...> values(std::forward<A>(arguments)...);
  return std::apply(
      [&](P&... value) {
        void* addresses[] = {static_cast<void*>(&value)..., nullptr};
        cudaKernelNodeParams parameters{};
        parameters.func = reinterpret_cast<void*>(kernel);
        parameters.gridDim = grid;
        parameters.blockDim = block;
        parameters.sharedMemBytes = static_cast<unsigned>(dynamic_shared);
        parameters.kernelParams = addresses;
        cudaGraphNode_t node = nullptr;
        const cudaError_t result = cudaGraphAddKernelNode(&node, to.graph, &to.last,
                                                          to.last == nullptr ? 0 : 1, &parameters);
        if (result == cudaSuccess) to.last = node;
        return result;
      },
      values);
}

}  // namespace stepscope::cuda
