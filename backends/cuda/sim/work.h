// Work: what a stream runs and what a graph's node holds, once copied from the call that asked for
// it.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cuda_runtime_api.h>

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <variant>
#include <vector>

#include "backends/cuda/sim/signature.h"

namespace stepscope::cudasim {

using Nanoseconds = std::int64_t;  // of the virtual clock (clock.h), never of a real one

struct Nothing {};  // an empty node, the ends of a graph's launch, a recorded event

struct KernelCall {
  const void* function = nullptr;
  const Signature* signature = nullptr;
  dim3 grid, block;
  std::size_t dynamic_shared = 0;  // bytes
  bool programmatic = false;  // may start before the kernel ahead of it ends; here it never does
  std::vector<std::byte> arguments;  // packed as signature->parameters say
};

struct Copy {
  void* to = nullptr;
  const void* from = nullptr;
  std::size_t bytes = 0;
  cudaMemcpyKind kind = cudaMemcpyDefault;
  // Pageable source of an asynchronous copy: its bytes, taken when the copy was submitted; else
  // null.
  std::shared_ptr<const std::vector<std::byte>> staged;
};

struct Fill {  // cudaMemset, cudaMemsetAsync, memset nodes; element_size is 1 for the first two
  void* to = nullptr;
  unsigned value = 0;
  unsigned element_size = 1;  // 1, 2 or 4 bytes
  std::size_t width = 0;      // elements of a row
  std::size_t height = 1;     // rows
  std::size_t pitch = 0;      // bytes between rows
};

struct HostCall {
  cudaHostFn_t function = nullptr;
  void* data = nullptr;
  // cudaStreamAddCallback's: called even after a device fault, with its code. Else empty.
  std::function<void(cudaError_t)> callback;
};

struct Extent {  // memory that a library's call touches
  const void* data;
  std::size_t bytes;
};

// A kernel of a simulated library: a node of type kernel in a graph.
struct LibraryCall {
  std::string name;             // "cublasLtMatmul"
  std::uint64_t problem = 0;    // hash of what it computes; tells a first use
  std::vector<Extent> touches;  // checked when it runs, as a kernel's pointers are
  std::function<void()> run;
};

struct Allocate {  // cudaMallocAsync: the memory may be touched from here on
  void* data = nullptr;
  std::size_t bytes = 0;
};
struct Release {  // cudaFreeAsync: and from here on no more
  void* data = nullptr;
  bool ends = false;  // also of a graph's memory: its graph is gone, and its launches are over
};

using Work =
    std::variant<Nothing, KernelCall, Copy, Fill, HostCall, LibraryCall, Allocate, Release>;
using WorkRef = std::shared_ptr<const Work>;

}  // namespace stepscope::cudasim
