// Products of the step: set up once, submitted at each step.
// SPDX-License-Identifier: Apache-2.0
#include "tests/backends/cuda/mlp/products.h"

#include <stdexcept>

#include "tests/backends/cuda/mlp/recorder.h"

namespace stepscope::mlp {
namespace {

template <class Value>
void set(cublasLtMatmulDesc_t operation, cublasLtMatmulDescAttributes_t attribute, Value value) {
  check(cublasLtMatmulDescSetAttribute(operation, attribute, &value, sizeof value),
        "cublasLtMatmulDescSetAttribute");
}

cublasLtMatrixLayout_t make_layout(int rows, int columns) {
  cublasLtMatrixLayout_t layout = nullptr;
  check(cublasLtMatrixLayoutCreate(&layout, CUDA_R_32F, static_cast<std::uint64_t>(rows),
                                   static_cast<std::uint64_t>(columns), rows),
        "cublasLtMatrixLayoutCreate");
  return layout;
}

}  // namespace

Product::Product(cublasLtHandle_t handle, Matrix a, Matrix b, float* d, Epilogue epilogue,
                 void* workspace, std::size_t workspace_bytes)
    : handle_(handle), a_(a), b_(b), d_(d), workspace_(workspace) {
  const int m = a.transposed ? a.columns : a.rows;
  const int n = b.transposed ? b.rows : b.columns;
  check(cublasLtMatmulDescCreate(&operation_, CUBLAS_COMPUTE_32F, CUDA_R_32F),
        "cublasLtMatmulDescCreate");
  a_layout_ = make_layout(a.rows, a.columns);
  b_layout_ = make_layout(b.rows, b.columns);
  d_layout_ = make_layout(m, n);
  set(operation_, CUBLASLT_MATMUL_DESC_TRANSA,
      std::int32_t{a.transposed ? CUBLAS_OP_T : CUBLAS_OP_N});
  set(operation_, CUBLASLT_MATMUL_DESC_TRANSB,
      std::int32_t{b.transposed ? CUBLAS_OP_T : CUBLAS_OP_N});
  set(operation_, CUBLASLT_MATMUL_DESC_EPILOGUE, static_cast<std::uint32_t>(epilogue.kind));
  set(operation_, CUBLASLT_MATMUL_DESC_BIAS_POINTER, epilogue.bias);
  set(operation_, CUBLASLT_MATMUL_DESC_EPILOGUE_AUX_POINTER, epilogue.mask);
  set(operation_, CUBLASLT_MATMUL_DESC_EPILOGUE_AUX_LD, mask_ld(m));
  choose(workspace_bytes);
}

void Product::choose(std::size_t workspace_bytes) {
  cublasLtMatmulPreference_t preference = nullptr;
  check(cublasLtMatmulPreferenceCreate(&preference), "cublasLtMatmulPreferenceCreate");
  const std::uint64_t most = workspace_bytes;
  check(cublasLtMatmulPreferenceSetAttribute(preference, CUBLASLT_MATMUL_PREF_MAX_WORKSPACE_BYTES,
                                             &most, sizeof most),
        "cublasLtMatmulPreferenceSetAttribute");
  int count = 0;
  const cublasStatus_t status =
      cublasLtMatmulAlgoGetHeuristic(handle_, operation_, a_layout_, b_layout_, d_layout_,
                                     d_layout_, preference, 1, &chosen_, &count);
  check(cublasLtMatmulPreferenceDestroy(preference), "cublasLtMatmulPreferenceDestroy");
  check(status, "cublasLtMatmulAlgoGetHeuristic");
  if (count != 1) throw std::runtime_error("cuBLASLt has no algorithm for a product");
}

Product::~Product() {
  cublasLtMatmulDescDestroy(operation_);
  for (cublasLtMatrixLayout_t layout : {a_layout_, b_layout_, d_layout_}) {
    cublasLtMatrixLayoutDestroy(layout);
  }
}

cublasStatus_t Product::submit(cudaStream_t stream) const {
  const float one = 1, zero = 0;
  return cublasLtMatmul(handle_, operation_, &one, a_.data, a_layout_, b_.data, b_layout_, &zero,
                        d_, d_layout_, d_, d_layout_, &chosen_.algo, workspace_,
                        chosen_.workspaceSize, stream);
}

}  // namespace stepscope::mlp
