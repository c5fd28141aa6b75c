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

struct StatusName {
  cudnnStatus_t status;
  const char* name;
};
constexpr StatusName kStatuses[] = {
    {CUDNN_STATUS_SUCCESS, "CUDNN_STATUS_SUCCESS"},
    {CUDNN_STATUS_NOT_INITIALIZED, "CUDNN_STATUS_NOT_INITIALIZED"},
    {CUDNN_STATUS_BAD_PARAM, "CUDNN_STATUS_BAD_PARAM"},
    {CUDNN_STATUS_NOT_SUPPORTED, "CUDNN_STATUS_NOT_SUPPORTED"},
    {CUDNN_STATUS_INTERNAL_ERROR, "CUDNN_STATUS_INTERNAL_ERROR"},
    {CUDNN_STATUS_EXECUTION_FAILED, "CUDNN_STATUS_EXECUTION_FAILED"},
};

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
  for (const StatusName& one : kStatuses) {
    if (one.status == status) return one.name;
  }
  return "CUDNN_UNKNOWN_STATUS";
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
