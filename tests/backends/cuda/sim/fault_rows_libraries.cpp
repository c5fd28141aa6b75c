// Fault rows of cuBLASLt, cuDNN and CUPTI.
// SPDX-License-Identifier: Apache-2.0
#include <cupti.h>

#include "tests/backends/cuda/sim/fault_rows.h"

namespace stepscope::cudasim {
namespace {

cublasLtHandle_t lt;
cublasLtMatmulDesc_t product;
cublasLtMatmulDescOpaque_t own_product;
cublasLtMatrixLayout_t layout;
cublasLtMatrixLayoutOpaque_t own_layout;
cublasLtMatmulPreference_t preference;
cublasLtMatmulPreferenceOpaque_t own_preference;
cudnnHandle_t dnn;
cudnnTensorDescriptor_t tensor;
std::uint32_t version;
std::uint64_t now;
CUpti_SubscriberHandle subscriber;
const cublasOperation_t kTransposed = CUBLAS_OP_T;
const cublasLtOrder_t kRowMajor = CUBLASLT_ORDER_ROW;
const std::size_t kWorkspace = 1 << 20;

int choose(FaultScene& s) {
  cublasLtMatmulHeuristicResult_t result{};
  int found = 0;
  return cublasLtMatmulAlgoGetHeuristic(s.lt, s.product, s.layout, s.layout, s.layout, s.layout,
                                        s.preference, 1, &result, &found);
}

int check_choice(FaultScene& s) {
  cublasLtMatmulHeuristicResult_t result{};
  return cublasLtMatmulAlgoCheck(s.lt, s.product, s.layout, s.layout, s.layout, s.layout,
                                 &s.algorithm, &result);
}

int multiply(FaultScene& s) {
  const float one = 1, zero = 0;
  return cublasLtMatmul(s.lt, s.product, &one, s.device, s.layout, s.device, s.layout, &zero,
                        s.other, s.layout, s.other, s.layout, &s.algorithm, nullptr, 0, s.stream);
}

void CUPTIAPI give_buffer(std::uint8_t** buffer, std::size_t* bytes, std::size_t* most) {
  *buffer = nullptr;
  *bytes = *most = 0;
}
void CUPTIAPI take_buffer(CUcontext, std::uint32_t, std::uint8_t*, std::size_t, std::size_t) {}
void CUPTIAPI called(void*, CUpti_CallbackDomain, CUpti_CallbackId, const void*) {}

#define ROW(name, ...)                                                 \
  {                                                                    \
#name, [](FaultScene& s) -> int { (void)s; return name(__VA_ARGS__); } \
  }

constexpr FaultRow kRows[] = {
    ROW(cublasLtCreate, &lt),
    ROW(cublasLtDestroy, s.lt),
    ROW(cublasLtMatmulDescCreate, &product, CUBLAS_COMPUTE_32F, CUDA_R_32F),
    ROW(cublasLtMatmulDescInit, &own_product, CUBLAS_COMPUTE_32F, CUDA_R_32F),
    ROW(cublasLtMatmulDescDestroy, s.product),
    ROW(cublasLtMatmulDescSetAttribute, s.product, CUBLASLT_MATMUL_DESC_TRANSA, &kTransposed,
        sizeof(kTransposed)),
    ROW(cublasLtMatrixLayoutCreate, &layout, CUDA_R_32F, 4, 4, 4),
    ROW(cublasLtMatrixLayoutInit, &own_layout, CUDA_R_32F, 4, 4, 4),
    ROW(cublasLtMatrixLayoutDestroy, s.layout),
    ROW(cublasLtMatrixLayoutSetAttribute, s.layout, CUBLASLT_MATRIX_LAYOUT_ORDER, &kRowMajor,
        sizeof(kRowMajor)),
    ROW(cublasLtMatmulPreferenceCreate, &preference),
    ROW(cublasLtMatmulPreferenceInit, &own_preference),
    ROW(cublasLtMatmulPreferenceDestroy, s.preference),
    ROW(cublasLtMatmulPreferenceSetAttribute, s.preference,
        CUBLASLT_MATMUL_PREF_MAX_WORKSPACE_BYTES, &kWorkspace, sizeof(kWorkspace)),
    {"cublasLtMatmulAlgoGetHeuristic", choose},
    {"cublasLtMatmulAlgoCheck", check_choice},
    {"cublasLtMatmul", multiply},
    ROW(cudnnCreate, &dnn),
    ROW(cudnnDestroy, s.dnn),
    ROW(cudnnCreateTensorDescriptor, &tensor),
    ROW(cudnnDestroyTensorDescriptor, s.tensor),
    ROW(cuptiGetVersion, &version),
    ROW(cuptiGetTimestamp, &now),
    ROW(cuptiActivityRegisterCallbacks, give_buffer, take_buffer),
    // No records are written yet, and nobody is told otherwise.
    {"cuptiActivityEnable",
     [](FaultScene&) -> int { return cuptiActivityEnable(CUPTI_ACTIVITY_KIND_KERNEL); },
     CUPTI_ERROR_NOT_SUPPORTED},
    {"cuptiActivityFlushAll", [](FaultScene&) -> int { return cuptiActivityFlushAll(0); }, 0,
     [](FaultScene&) { (void)cuptiActivityRegisterCallbacks(give_buffer, take_buffer); }},
    {"cuptiSubscribe",
     [](FaultScene&) -> int { return cuptiSubscribe(&subscriber, called, nullptr); },
     CUPTI_ERROR_NOT_SUPPORTED},
};

}  // namespace

std::span<const FaultRow> library_rows() { return kRows; }

}  // namespace stepscope::cudasim
