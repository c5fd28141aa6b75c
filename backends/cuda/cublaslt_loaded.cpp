// Loading, and the forwards. This file is compiled with hidden symbols: the library calls functions
// of its own by these names, and must find its own.
// SPDX-License-Identifier: Apache-2.0
#include "backends/cuda/cublaslt_loaded.h"

#include <dlfcn.h>
#include <fmt/format.h>

namespace stepscope::cuda {
namespace {

std::string loader_says() {
  const char* said = ::dlerror();
  return said != nullptr ? said : "the loader does not say why";
}

template <class Function>
bool find(void* library, const char* name, Function& function) {
  function = reinterpret_cast<Function>(::dlsym(library, name));
  return function != nullptr;
}

std::string file_name() { return fmt::format("libcublasLt.so.{}", kCublasLtMajor); }

}  // namespace

CublasLt load_cublaslt(const std::string& file) {
  CublasLt loaded;
  void* library = ::dlopen(file.c_str(), RTLD_NOW | RTLD_LOCAL);
  if (library == nullptr) return {.why_not = loader_says()};
#define STEPSCOPE_CUBLASLT(function)                \
  if (!find(library, #function, loaded.function)) { \
    return {.why_not = loader_says()};              \
  }
#include "backends/cuda/cublaslt_loaded.inc"
#undef STEPSCOPE_CUBLASLT
  return loaded;
}

const CublasLt& loaded_cublaslt() {
  static const CublasLt loaded = load_cublaslt(file_name());
  return loaded;
}

}  // namespace stepscope::cuda

// Requires of all: the backend was made, so that the library is there.
using stepscope::cuda::loaded_cublaslt;

cublasStatus_t cublasLtCreate(cublasLtHandle_t* handle) {
  return loaded_cublaslt().cublasLtCreate(handle);
}

cublasStatus_t cublasLtDestroy(cublasLtHandle_t handle) {
  return loaded_cublaslt().cublasLtDestroy(handle);
}

const char* cublasLtGetStatusName(cublasStatus_t status) {
  return loaded_cublaslt().cublasLtGetStatusName(status);
}

size_t cublasLtGetVersion() { return loaded_cublaslt().cublasLtGetVersion(); }

cublasStatus_t cublasLtMatmul(cublasLtHandle_t handle, cublasLtMatmulDesc_t operation,
                              const void* alpha, const void* a, cublasLtMatrixLayout_t a_layout,
                              const void* b, cublasLtMatrixLayout_t b_layout, const void* beta,
                              const void* c, cublasLtMatrixLayout_t c_layout, void* d,
                              cublasLtMatrixLayout_t d_layout,
                              const cublasLtMatmulAlgo_t* algorithm, void* workspace,
                              size_t workspace_bytes, cudaStream_t stream) {
  return loaded_cublaslt().cublasLtMatmul(handle, operation, alpha, a, a_layout, b, b_layout, beta,
                                          c, c_layout, d, d_layout, algorithm, workspace,
                                          workspace_bytes, stream);
}

cublasStatus_t cublasLtMatmulAlgoCheck(cublasLtHandle_t handle, cublasLtMatmulDesc_t operation,
                                       cublasLtMatrixLayout_t a, cublasLtMatrixLayout_t b,
                                       cublasLtMatrixLayout_t c, cublasLtMatrixLayout_t d,
                                       const cublasLtMatmulAlgo_t* algorithm,
                                       cublasLtMatmulHeuristicResult_t* result) {
  return loaded_cublaslt().cublasLtMatmulAlgoCheck(handle, operation, a, b, c, d, algorithm,
                                                   result);
}

cublasStatus_t cublasLtMatmulAlgoGetHeuristic(cublasLtHandle_t handle,
                                              cublasLtMatmulDesc_t operation,
                                              cublasLtMatrixLayout_t a, cublasLtMatrixLayout_t b,
                                              cublasLtMatrixLayout_t c, cublasLtMatrixLayout_t d,
                                              cublasLtMatmulPreference_t preference, int wanted,
                                              cublasLtMatmulHeuristicResult_t results[],
                                              int* count) {
  return loaded_cublaslt().cublasLtMatmulAlgoGetHeuristic(handle, operation, a, b, c, d, preference,
                                                          wanted, results, count);
}

cublasStatus_t cublasLtMatmulDescInit_internal(cublasLtMatmulDesc_t operation, size_t bytes,
                                               cublasComputeType_t compute, cudaDataType_t scale) {
  return loaded_cublaslt().cublasLtMatmulDescInit_internal(operation, bytes, compute, scale);
}

cublasStatus_t cublasLtMatmulDescSetAttribute(cublasLtMatmulDesc_t operation,
                                              cublasLtMatmulDescAttributes_t attribute,
                                              const void* value, size_t bytes) {
  return loaded_cublaslt().cublasLtMatmulDescSetAttribute(operation, attribute, value, bytes);
}

cublasStatus_t cublasLtMatmulPreferenceInit_internal(cublasLtMatmulPreference_t preference,
                                                     size_t bytes) {
  return loaded_cublaslt().cublasLtMatmulPreferenceInit_internal(preference, bytes);
}

cublasStatus_t cublasLtMatmulPreferenceSetAttribute(cublasLtMatmulPreference_t preference,
                                                    cublasLtMatmulPreferenceAttributes_t attribute,
                                                    const void* value, size_t bytes) {
  return loaded_cublaslt().cublasLtMatmulPreferenceSetAttribute(preference, attribute, value,
                                                                bytes);
}

cublasStatus_t cublasLtMatrixLayoutInit_internal(cublasLtMatrixLayout_t layout, size_t bytes,
                                                 cudaDataType type, uint64_t rows, uint64_t columns,
                                                 int64_t leading) {
  return loaded_cublaslt().cublasLtMatrixLayoutInit_internal(layout, bytes, type, rows, columns,
                                                             leading);
}
