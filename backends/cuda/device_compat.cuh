// Device compat: the little in which a kernel's source differs between nvcc and the simulator. The
// only file of the backend that asks for __CUDACC__; a kernel that keeps to it, to NVIDIA's own
// headers and to launch() is one source for both.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cuda_runtime.h>

#include <cstddef>
#include <utility>

// SHARED_ARRAY(float, tile, [32][33]); declares the block's array `tile`. Its contents are
// undefined until they are written. DYNAMIC_SHARED(float, buffer); declares `float* buffer`, the
// bytes that the launch asked for, aligned to 16 bytes. One of it a kernel.
// REGISTER_KERNEL(kernel); before its address is given to CUDA other than by launch().
// UNROLLED for (...) where arrays shall live in registers: their indices must be constants.
#if defined(__CUDACC__)
#define SHARED_ARRAY(type, name, extents) __shared__ type name extents
#define DYNAMIC_SHARED(type, name)                                          \
  extern __shared__ __align__(16) unsigned char stepscope_dynamic_shared[]; \
  type* const name = reinterpret_cast<type*>(stepscope_dynamic_shared)
#define REGISTER_KERNEL(kernel) static_cast<void>(kernel)
#define UNROLLED _Pragma("unroll")
#else
#define SHARED_ARRAY(type, name, extents)       \
  using name##_shared_type = type extents;      \
  static constexpr char name##_shared_here = 0; \
  auto& name =                                  \
      ::stepscope::cudasim::device::shared_reference<name##_shared_type>(&name##_shared_here)
#define DYNAMIC_SHARED(type, name) \
  type* const name = static_cast<type*>(::stepscope::cudasim::device::dynamic_shared())
#define REGISTER_KERNEL(kernel) ::stepscope::cudasim::register_typed(kernel)
#define UNROLLED
#endif

namespace stepscope::cuda {

// Launches `kernel` with these sizes on the stream: the one way in which the project starts device
// code, so that live, captured and simulated launches are the same.
template <class... P, class... A>
cudaError_t launch(cudaStream_t stream, dim3 grid, dim3 block, std::size_t dynamic_shared,
                   void (*kernel)(P...), A&&... arguments) {
  cudaLaunchConfig_t config{};
  config.gridDim = grid;
  config.blockDim = block;
  config.dynamicSmemBytes = dynamic_shared;
  config.stream = stream;
  return cudaLaunchKernelEx(&config, kernel, std::forward<A>(arguments)...);
}

}  // namespace stepscope::cuda
