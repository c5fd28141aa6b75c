// handles: owners of what CUDA and cuBLASLt hand out; destroyed with the object, on every path.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cublasLt.h>
#include <cuda_runtime_api.h>

#include <type_traits>
#include <utility>

#include "backends/cuda/error.h"

namespace stepscope::cuda {

// Destroy: what the library offers; its status is dropped, and a runtime error collected.
template <class Handle, auto Destroy>
class Owned {
 public:
  Owned() = default;
  explicit Owned(Handle handle) : handle_(handle) {}
  ~Owned() { reset(); }
  Owned(Owned&& other) noexcept : handle_(std::exchange(other.handle_, nullptr)) {}
  Owned& operator=(Owned&& other) noexcept {
    if (this != &other) {
      reset();
      handle_ = std::exchange(other.handle_, nullptr);
    }
    return *this;
  }

  Handle value() const { return handle_; }
  explicit operator bool() const { return handle_ != nullptr; }
  Handle* fill() {  // for calls that write a handle; destroys what was there
    reset();
    return &handle_;
  }
  Handle release() { return std::exchange(handle_, nullptr); }
  void reset() {
    if (handle_ == nullptr) return;
    if constexpr (std::is_same_v<decltype(Destroy(handle_)), cudaError_t>) {
      forget(Destroy(handle_));
    } else {
      static_cast<void>(Destroy(handle_));
    }
    handle_ = nullptr;
  }

 private:
  Handle handle_ = nullptr;
};

using StreamHandle = Owned<cudaStream_t, cudaStreamDestroy>;
using EventHandle = Owned<cudaEvent_t, cudaEventDestroy>;
using GraphHandle = Owned<cudaGraph_t, cudaGraphDestroy>;
using ExecHandle = Owned<cudaGraphExec_t, cudaGraphExecDestroy>;
using LtHandle = Owned<cublasLtHandle_t, cublasLtDestroy>;

}  // namespace stepscope::cuda
