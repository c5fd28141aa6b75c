// Prelude: what nvcc gives a .cu file and g++ does not. Included before everything else (-include)
// where kernels are compiled for the simulator; no source names it.
// SPDX-License-Identifier: Apache-2.0
#pragma once

// NVIDIA's launch template ends in a C call that loses the parameters' types. Ours, with the same
// signature, makes them known first.
#define cudaLaunchKernelEx cudaLaunchKernelEx_of_nvidia
#include <cuda_runtime.h>
#undef cudaLaunchKernelEx

#include <device_launch_parameters.h>

#include <type_traits>
#include <utility>

#include "backends/cuda/sim/device_atomics.h"
#include "backends/cuda/sim/device_calls.h"
#include "backends/cuda/sim/device_language.h"
#include "backends/cuda/sim/signature.h"

#undef __shared__
#define __shared__ static_assert(false, "use SHARED_ARRAY or DYNAMIC_SHARED of device_compat.cuh");
#undef __constant__
#define __constant__ static_assert(false, "the simulator has no __constant__ memory");
#undef __managed__
#define __managed__ static_assert(false, "the simulator has no __managed__ memory");
#define __launch_bounds__(...)

namespace stepscope::cudasim {

template <class... P>
void register_typed(void (*kernel)(P...)) {
  static_assert(!(std::is_reference_v<P> || ...), "a kernel takes its parameters by value");
  register_kernel(reinterpret_cast<const void*>(kernel), SignatureOf<P...>::value);
}

namespace device {

template <class T>
T& shared_reference(const void* identity, Site site = Site::current()) {
  return *static_cast<T*>(shared_array(identity, sizeof(T), alignof(T), site));
}

}  // namespace device
}  // namespace stepscope::cudasim

template <class... P, class... A>
cudaError_t cudaLaunchKernelEx(const cudaLaunchConfig_t* config, void (*kernel)(P...),
                               A&&... arguments) {
  static_assert(sizeof...(P) == sizeof...(A), "one argument for each parameter of the kernel");
  stepscope::cudasim::register_typed(kernel);
  return [&](P... coerced) {
    void* addresses[] = {static_cast<void*>(&coerced)..., nullptr};
    return ::cudaLaunchKernelExC(config, reinterpret_cast<const void*>(kernel), addresses);
  }(std::forward<A>(arguments)...);
}
