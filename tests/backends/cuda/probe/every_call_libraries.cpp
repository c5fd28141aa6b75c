// Every call of cuBLASLt, cuDNN and CUPTI. Descriptors are made of settings alone, so most of these
// succeed without a driver.
// SPDX-License-Identifier: Apache-2.0
#include <cublasLt.h>
#include <cudnn.h>
#include <cupti.h>

#include <array>
#include <cstddef>
#include <cstdint>

#include "tests/backends/cuda/probe/every_call.h"

namespace stepscope::probe {
namespace {

// Each is made by its Create and lost by its Destroy, further down; between them it is set.
cublasLtHandle_t handle;
cublasLtMatmulDesc_t product;
cublasLtMatmulDescOpaque_t own_product;
cublasLtMatrixLayout_t layout;
cublasLtMatrixLayoutOpaque_t own_layout;
cublasLtMatmulPreference_t preference;
cublasLtMatmulPreferenceOpaque_t own_preference;
cudnnHandle_t cudnn;
cudnnTensorDescriptor_t tensor;
std::uint32_t version;
std::uint64_t now;
CUpti_SubscriberHandle subscriber;
const cublasOperation_t kTransposed = CUBLAS_OP_T;
const cublasLtOrder_t kRows = CUBLASLT_ORDER_ROW;
const std::size_t kWorkspace = 1 << 20;

Status choose() {
  cublasLtMatmulHeuristicResult_t result{};
  int found = 0;
  return status_of(cublasLtMatmulAlgoGetHeuristic(nullptr, &own_product, &own_layout, &own_layout,
                                                  &own_layout, &own_layout, &own_preference, 1,
                                                  &result, &found));
}

Status check_algorithm() {
  const cublasLtMatmulAlgo_t none{};
  cublasLtMatmulHeuristicResult_t result{};
  return status_of(cublasLtMatmulAlgoCheck(nullptr, &own_product, &own_layout, &own_layout,
                                           &own_layout, &own_layout, &none, &result));
}

Status multiply() {
  const float one = 1, zero = 0;
  float a[16]{}, b[16]{}, d[16]{};
  return status_of(cublasLtMatmul(nullptr, &own_product, &one, a, &own_layout, b, &own_layout,
                                  &zero, d, &own_layout, d, &own_layout, nullptr, nullptr, 0,
                                  nullptr));
}

void CUPTIAPI give_buffer(std::uint8_t** buffer, std::size_t* bytes, std::size_t* most_records) {
  *buffer = nullptr;
  *bytes = *most_records = 0;
}
void CUPTIAPI take_buffer(CUcontext, std::uint32_t, std::uint8_t*, std::size_t, std::size_t) {}
void CUPTIAPI called(void*, CUpti_CallbackDomain, CUpti_CallbackId, const void*) {}

#define ENTRY(name, ...)                               \
  Entry {                                              \
#name, [] { return status_of(name(__VA_ARGS__)); } \
  }

constexpr std::array kLibraries = {
    ENTRY(cublasLtCreate, &handle),
    ENTRY(cublasLtDestroy, nullptr),
    ENTRY(cublasLtMatmulDescCreate, &product, CUBLAS_COMPUTE_32F, CUDA_R_32F),
    ENTRY(cublasLtMatmulDescInit, &own_product, CUBLAS_COMPUTE_32F, CUDA_R_32F),
    ENTRY(cublasLtMatmulDescSetAttribute, product, CUBLASLT_MATMUL_DESC_TRANSA, &kTransposed,
          sizeof(kTransposed)),
    ENTRY(cublasLtMatmulDescDestroy, product),
    ENTRY(cublasLtMatrixLayoutCreate, &layout, CUDA_R_32F, 4, 4, 4),
    ENTRY(cublasLtMatrixLayoutInit, &own_layout, CUDA_R_32F, 4, 4, 4),
    ENTRY(cublasLtMatrixLayoutSetAttribute, layout, CUBLASLT_MATRIX_LAYOUT_ORDER, &kRows,
          sizeof(kRows)),
    ENTRY(cublasLtMatrixLayoutDestroy, layout),
    ENTRY(cublasLtMatmulPreferenceCreate, &preference),
    ENTRY(cublasLtMatmulPreferenceInit, &own_preference),
    ENTRY(cublasLtMatmulPreferenceSetAttribute, preference,
          CUBLASLT_MATMUL_PREF_MAX_WORKSPACE_BYTES, &kWorkspace, sizeof(kWorkspace)),
    ENTRY(cublasLtMatmulPreferenceDestroy, preference),
    Entry{"cublasLtMatmulAlgoGetHeuristic", choose},
    Entry{"cublasLtMatmulAlgoCheck", check_algorithm},
    Entry{"cublasLtMatmul", multiply},
    ENTRY(cudnnCreate, &cudnn),
    ENTRY(cudnnDestroy, nullptr),
    ENTRY(cudnnCreateTensorDescriptor, &tensor),
    ENTRY(cudnnDestroyTensorDescriptor, tensor),
    ENTRY(cuptiGetVersion, &version),
    ENTRY(cuptiGetTimestamp, &now),
    ENTRY(cuptiActivityRegisterCallbacks, give_buffer, take_buffer),
    ENTRY(cuptiActivityEnable, CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL),
    ENTRY(cuptiActivityFlushAll, 0),
    ENTRY(cuptiSubscribe, &subscriber, called, nullptr),
};

}  // namespace

std::span<const Entry> library_calls() { return kLibraries; }

}  // namespace stepscope::probe
