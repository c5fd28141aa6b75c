// cudnn: handles and tensor descriptors, which show whether a driver is there. Convolutions join
// when a backend calls them.
// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <algorithm>
#include <cstring>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "backends/cuda/sim/call.h"
#include "backends/cuda/sim/library.h"

struct cudnnContext {};
struct cudnnTensorStruct {};

namespace stepscope::cudasim {
namespace {

// Objects of one kind, known by their addresses.
template <class Object>
struct Known {
  std::vector<std::unique_ptr<Object>> all;

  static Known& state() {
    static Known& known = *new Known;
    return known;
  }
  cudnnStatus_t create(Object** to) {
    if (to == nullptr) return CUDNN_STATUS_BAD_PARAM;
    all.push_back(std::make_unique<Object>());
    *to = all.back().get();
    return CUDNN_STATUS_SUCCESS;
  }
  // Null is no error: so does the library (measured).
  cudnnStatus_t destroy(Object* object) {
    if (object == nullptr) return CUDNN_STATUS_SUCCESS;
    const auto at =
        std::find_if(all.begin(), all.end(), [&](const auto& one) { return one.get() == object; });
    if (at == all.end()) return CUDNN_STATUS_BAD_PARAM;
    all.erase(at);
    return CUDNN_STATUS_SUCCESS;
  }
};
using Handles = Known<cudnnContext>;
using Tensors = Known<cudnnTensorStruct>;

std::string& last_error() {
  thread_local std::string text;
  return text;
}
// The text that cudnnGetLastErrorString answers once, as the library words it (measured without a
// driver).
cudnnStatus_t remember(cudnnStatus_t status, std::string_view of_bad_param) {
  if (status == CUDNN_STATUS_NOT_INITIALIZED) {
    last_error() = "cudaGetDeviceCount(&count) != cudaSuccess";
  } else if (status != CUDNN_STATUS_SUCCESS) {
    last_error() = of_bad_param;
  }
  return status;
}

// Null: no status that cudnn_graph.h of 9.19 defines.
const char* name_of_status(cudnnStatus_t status) {
  // Deprecated, with a number of its own: to name the enumerator is a warning.
  if (static_cast<int>(status) == 2001) return "CUDNN_STATUS_INVALID_VALUE";
  switch (status) {
#define STATUS(name) \
  case name:         \
    return #name;
    STATUS(CUDNN_STATUS_SUCCESS)
    STATUS(CUDNN_STATUS_NOT_INITIALIZED)
    STATUS(CUDNN_STATUS_SUBLIBRARY_VERSION_MISMATCH)
    STATUS(CUDNN_STATUS_SERIALIZATION_VERSION_MISMATCH)
    STATUS(CUDNN_STATUS_DEPRECATED)
    STATUS(CUDNN_STATUS_LICENSE_ERROR)
    STATUS(CUDNN_STATUS_RUNTIME_IN_PROGRESS)
    STATUS(CUDNN_STATUS_RUNTIME_FP_OVERFLOW)
    STATUS(CUDNN_STATUS_SUBLIBRARY_LOADING_FAILED)
    STATUS(CUDNN_STATUS_BAD_PARAM)
    STATUS(CUDNN_STATUS_BAD_PARAM_NULL_POINTER)
    STATUS(CUDNN_STATUS_BAD_PARAM_MISALIGNED_POINTER)
    STATUS(CUDNN_STATUS_BAD_PARAM_NOT_FINALIZED)
    STATUS(CUDNN_STATUS_BAD_PARAM_OUT_OF_BOUND)
    STATUS(CUDNN_STATUS_BAD_PARAM_SIZE_INSUFFICIENT)
    STATUS(CUDNN_STATUS_BAD_PARAM_STREAM_MISMATCH)
    STATUS(CUDNN_STATUS_BAD_PARAM_SHAPE_MISMATCH)
    STATUS(CUDNN_STATUS_BAD_PARAM_DUPLICATED_ENTRIES)
    STATUS(CUDNN_STATUS_BAD_PARAM_ATTRIBUTE_TYPE)
    STATUS(CUDNN_STATUS_BAD_PARAM_CUDA_GRAPH_MISMATCH)
    STATUS(CUDNN_STATUS_BAD_PARAM_DESCRIPTOR_TYPE)
    STATUS(CUDNN_STATUS_NOT_SUPPORTED)
    STATUS(CUDNN_STATUS_NOT_SUPPORTED_GRAPH_PATTERN)
    STATUS(CUDNN_STATUS_NOT_SUPPORTED_SHAPE)
    STATUS(CUDNN_STATUS_NOT_SUPPORTED_DATA_TYPE)
    STATUS(CUDNN_STATUS_NOT_SUPPORTED_LAYOUT)
    STATUS(CUDNN_STATUS_NOT_SUPPORTED_INCOMPATIBLE_CUDA_DRIVER)
    STATUS(CUDNN_STATUS_NOT_SUPPORTED_INCOMPATIBLE_CUDART)
    STATUS(CUDNN_STATUS_NOT_SUPPORTED_ARCH_MISMATCH)
    STATUS(CUDNN_STATUS_NOT_SUPPORTED_RUNTIME_PREREQUISITE_MISSING)
    STATUS(CUDNN_STATUS_NOT_SUPPORTED_SUBLIBRARY_UNAVAILABLE)
    STATUS(CUDNN_STATUS_NOT_SUPPORTED_SHARED_MEMORY_INSUFFICIENT)
    STATUS(CUDNN_STATUS_NOT_SUPPORTED_PADDING)
    STATUS(CUDNN_STATUS_NOT_SUPPORTED_BAD_LAUNCH_PARAM)
    STATUS(CUDNN_STATUS_NOT_SUPPORTED_CUDA_GRAPH_NATIVE_API)
    STATUS(CUDNN_STATUS_NOT_SUPPORTED_INVALID_DYNAMIC_SHAPE)
    STATUS(CUDNN_STATUS_INTERNAL_ERROR)
    STATUS(CUDNN_STATUS_INTERNAL_ERROR_COMPILATION_FAILED)
    STATUS(CUDNN_STATUS_INTERNAL_ERROR_UNEXPECTED_VALUE)
    STATUS(CUDNN_STATUS_INTERNAL_ERROR_HOST_ALLOCATION_FAILED)
    STATUS(CUDNN_STATUS_INTERNAL_ERROR_DEVICE_ALLOCATION_FAILED)
    STATUS(CUDNN_STATUS_INTERNAL_ERROR_BAD_LAUNCH_PARAM)
    STATUS(CUDNN_STATUS_INTERNAL_ERROR_TEXTURE_CREATION_FAILED)
    STATUS(CUDNN_STATUS_EXECUTION_FAILED)
    STATUS(CUDNN_STATUS_EXECUTION_FAILED_CUDA_DRIVER)
    STATUS(CUDNN_STATUS_EXECUTION_FAILED_CUBLAS)
    STATUS(CUDNN_STATUS_EXECUTION_FAILED_CUDART)
    STATUS(CUDNN_STATUS_EXECUTION_FAILED_CURAND)
#undef STATUS
    default:
      return nullptr;
  }
}

void add_line(std::vector<std::string>& lines, std::string_view what, std::size_t count) {
  if (count == 0) return;
  lines.push_back(
      fmt::format("cuDNN: {} {}{} not destroyed", count, what, count == 1 ? " was" : "s were"));
}

}  // namespace

std::vector<std::string> live_cudnn() {
  std::vector<std::string> lines;
  add_line(lines, "handle", Handles::state().all.size());
  add_line(lines, "tensor descriptor", Tensors::state().all.size());
  return lines;
}

void reset_cudnn() {
  Handles::state().all.clear();
  Tensors::state().all.clear();
  last_error().clear();
}

}  // namespace stepscope::cudasim

using namespace stepscope::cudasim;

extern "C" {

cudnnStatus_t cudnnCreate(cudnnHandle_t* handle) {
  return remember(call(CallId::cudnnCreate, [&] { return Handles::state().create(handle); }),
                  "handle == __null");
}
cudnnStatus_t cudnnDestroy(cudnnHandle_t handle) {
  return remember(call(CallId::cudnnDestroy, [&] { return Handles::state().destroy(handle); }),
                  "handle is not live");
}
cudnnStatus_t cudnnCreateTensorDescriptor(cudnnTensorDescriptor_t* descriptor) {
  return remember(call(CallId::cudnnCreateTensorDescriptor,
                       [&] { return Tensors::state().create(descriptor); }),
                  "!tensorDesc");
}
cudnnStatus_t cudnnDestroyTensorDescriptor(cudnnTensorDescriptor_t descriptor) {
  return remember(call(CallId::cudnnDestroyTensorDescriptor,
                       [&] { return Tensors::state().destroy(descriptor); }),
                  "tensorDesc is not live");
}

const char* cudnnGetErrorString(cudnnStatus_t status) {
  const char* name = name_of_status(status);
  return name != nullptr ? name : "CUDNN_UNKNOWN_STATUS";
}
// Answers once: the text is gone afterwards, as measured.
void cudnnGetLastErrorString(char* message, size_t room) {
  if (message == nullptr || room == 0) return;
  const std::size_t length = std::min(room - 1, last_error().size());
  std::memcpy(message, last_error().data(), length);
  message[length] = '\0';
  last_error().clear();
}

}  // extern "C"
