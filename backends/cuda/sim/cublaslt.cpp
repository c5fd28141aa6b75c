// cublaslt: handles, and what statuses are called.
// SPDX-License-Identifier: Apache-2.0
#include "backends/cuda/sim/cublaslt.h"

#include <fmt/format.h>

#include <algorithm>
#include <memory>
#include <vector>

#include "backends/cuda/sim/call.h"
#include "backends/cuda/sim/cublaslt_objects.h"
#include "backends/cuda/sim/library.h"

struct cublasLtContext {};

namespace stepscope::cudasim {
namespace {

std::vector<std::unique_ptr<cublasLtContext>>& handles() {
  static auto& all = *new std::vector<std::unique_ptr<cublasLtContext>>;
  return all;
}
auto find_handle(cublasLtHandle_t handle) {
  return std::find_if(handles().begin(), handles().end(),
                      [&](const auto& one) { return one.get() == handle; });
}

cublasStatus_t create_handle(cublasLtHandle_t* handle) {
  if (handle == nullptr) return CUBLAS_STATUS_INVALID_VALUE;
  handles().push_back(std::make_unique<cublasLtContext>());
  *handle = handles().back().get();
  return CUBLAS_STATUS_SUCCESS;
}
cublasStatus_t destroy_handle(cublasLtHandle_t handle) {
  if (!is_live(handle)) return CUBLAS_STATUS_INVALID_VALUE;
  handles().erase(find_handle(handle));
  return CUBLAS_STATUS_SUCCESS;
}

struct StatusText {
  cublasStatus_t status;
  const char *name, *text;
};
// As the library answers (13.1, asked without a device).
constexpr StatusText kStatuses[] = {
    {CUBLAS_STATUS_SUCCESS, "CUBLAS_STATUS_SUCCESS", "success"},
    {CUBLAS_STATUS_NOT_INITIALIZED, "CUBLAS_STATUS_NOT_INITIALIZED",
     "the library was not initialized"},
    {CUBLAS_STATUS_ALLOC_FAILED, "CUBLAS_STATUS_ALLOC_FAILED", "the resource allocation failed"},
    {CUBLAS_STATUS_INVALID_VALUE, "CUBLAS_STATUS_INVALID_VALUE",
     "an unsupported value or parameter was passed to the function"},
    {CUBLAS_STATUS_ARCH_MISMATCH, "CUBLAS_STATUS_ARCH_MISMATCH",
     "the function requires an architectural feature absent from the device"},
    {CUBLAS_STATUS_MAPPING_ERROR, "CUBLAS_STATUS_MAPPING_ERROR",
     "an access to GPU memory space failed"},
    {CUBLAS_STATUS_EXECUTION_FAILED, "CUBLAS_STATUS_EXECUTION_FAILED",
     "the function failed to launch on the GPU"},
    {CUBLAS_STATUS_INTERNAL_ERROR, "CUBLAS_STATUS_INTERNAL_ERROR", "an internal operation failed"},
    {CUBLAS_STATUS_NOT_SUPPORTED, "CUBLAS_STATUS_NOT_SUPPORTED",
     "the requested functionality is not supported"},
    {CUBLAS_STATUS_LICENSE_ERROR, "CUBLAS_STATUS_LICENSE_ERROR", "the license check failed"},
};
StatusText text_of(cublasStatus_t status) {
  for (const StatusText& one : kStatuses) {
    if (one.status == status) return one;
  }
  return {status, "unrecognized status", "unrecognized status"};
}

}  // namespace

bool is_live(cublasLtHandle_t handle) {
  return handle != nullptr && find_handle(handle) != handles().end();
}

cublasStatus_t read_problem(cublasLtMatmulDesc_t operation,
                            const std::array<cublasLtMatrixLayout_t, 4>& layouts,
                            Problem& problem) {
  const auto fields = fields_of<OperationFields>(operation);
  if (!fields) return CUBLAS_STATUS_INVALID_VALUE;
  std::array<LayoutFields, 4> read;
  for (std::size_t i = 0; i < layouts.size(); ++i) {
    const auto layout = fields_of<LayoutFields>(layouts[i]);
    if (!layout) return CUBLAS_STATUS_INVALID_VALUE;
    read[i] = *layout;
  }
  return problem_of(*fields, {read[0], read[1], read[2], read[3]}, problem);
}

std::vector<std::string> live_cublaslt() {
  std::vector<std::string> lines = live_descriptors();
  if (const std::size_t count = handles().size(); count != 0) {
    lines.push_back(fmt::format("cuBLASLt: {} handle{} not destroyed; call cublasLtDestroy", count,
                                count == 1 ? " was" : "s were"));
  }
  return lines;
}

void reset_cublaslt() {
  handles().clear();
  reset_descriptors();
}

}  // namespace stepscope::cudasim

using namespace stepscope::cudasim;

extern "C" {

cublasStatus_t cublasLtCreate(cublasLtHandle_t* handle) {
  return call(CallId::cublasLtCreate, [&] { return create_handle(handle); });
}
cublasStatus_t cublasLtDestroy(cublasLtHandle_t handle) {
  return call(CallId::cublasLtDestroy, [&] { return destroy_handle(handle); });
}

// Pure: no driver, no fault and no capture changes what a status is called.
const char* cublasLtGetStatusName(cublasStatus_t status) { return text_of(status).name; }
const char* cublasLtGetStatusString(cublasStatus_t status) { return text_of(status).text; }
// That of the headers: the one whose answers are simulated.
size_t cublasLtGetVersion() { return CUBLAS_VERSION; }

}  // extern "C"
