// The calls of a product.
// SPDX-License-Identifier: Apache-2.0
#include "tests/backends/cuda/sim/cublaslt_run.h"

#include <gtest/gtest.h>

namespace stepscope::cudasim {
namespace {

constexpr std::size_t kWorkspace = std::size_t{1} << 16;  // bytes

void make_layout(const Stored& matrix, cublasLtMatrixLayout_t* layout) {
  EXPECT_EQ(CUBLAS_STATUS_SUCCESS,
            cublasLtMatrixLayoutCreate(layout, CUDA_R_32F, static_cast<std::uint64_t>(matrix.rows),
                                       static_cast<std::uint64_t>(matrix.columns), matrix.ld));
  const std::int32_t order = matrix.rows_first ? CUBLASLT_ORDER_ROW : CUBLASLT_ORDER_COL;
  EXPECT_EQ(CUBLAS_STATUS_SUCCESS,
            cublasLtMatrixLayoutSetAttribute(*layout, CUBLASLT_MATRIX_LAYOUT_ORDER, &order,
                                             sizeof order));
}

}  // namespace

OnDevice::OnDevice(const void* from, std::size_t bytes) : bytes_(bytes) {
  EXPECT_EQ(cudaSuccess, cudaMalloc(&data_, bytes));
  if (from != nullptr) {
    EXPECT_EQ(cudaSuccess, cudaMemcpy(data_, from, bytes, cudaMemcpyHostToDevice));
    EXPECT_EQ(cudaSuccess, cudaDeviceSynchronize());  // the copy may be under way
  }
}
OnDevice::~OnDevice() {
  cudaDeviceSynchronize();
  cudaFree(data_);
}
void OnDevice::read(void* to) const {
  EXPECT_EQ(cudaSuccess, cudaMemcpy(to, data_, bytes_, cudaMemcpyDeviceToHost));
}

Prepared::Prepared(const ProductCase& one)
    : product(one),
      before(data_of(one)),
      on_a(before.a.data.data(), before.a.data.size() * sizeof(float)),
      on_b(before.b.data.data(), before.b.data.size() * sizeof(float)),
      on_c(before.c.data.data(), before.c.data.size() * sizeof(float)),
      on_d(before.d.data.data(), before.d.data.size() * sizeof(float)),
      on_bias(before.bias.data(), before.bias.size() * sizeof(float)),
      on_mask(before.mask.data(), before.mask.size()),
      on_workspace(nullptr, kWorkspace),
      a(on_a.data()),
      b(on_b.data()),
      c(one.in_place ? on_d.data() : on_c.data()),
      d(on_d.data()),
      workspace(on_workspace.data()),
      workspace_bytes(kWorkspace),
      alpha(&product.alpha),
      beta(&product.beta) {
  EXPECT_EQ(CUBLAS_STATUS_SUCCESS, cublasLtCreate(&handle));
  EXPECT_EQ(CUBLAS_STATUS_SUCCESS,
            cublasLtMatmulDescCreate(&operation, CUBLAS_COMPUTE_32F, CUDA_R_32F));
  make_layout(before.a, &a_layout);
  make_layout(before.b, &b_layout);
  make_layout(before.c, &c_layout);
  make_layout(before.d, &d_layout);
  EXPECT_EQ(CUBLAS_STATUS_SUCCESS, cublasLtMatmulPreferenceCreate(&preference));
  set(CUBLASLT_MATMUL_DESC_TRANSA, std::int32_t{one.transpose_a ? CUBLAS_OP_T : CUBLAS_OP_N});
  set(CUBLASLT_MATMUL_DESC_TRANSB, std::int32_t{one.transpose_b ? CUBLAS_OP_T : CUBLAS_OP_N});
  set(CUBLASLT_MATMUL_DESC_EPILOGUE, static_cast<std::uint32_t>(one.epilogue));
  set(CUBLASLT_MATMUL_DESC_BIAS_POINTER, on_bias.data());
  set(CUBLASLT_MATMUL_DESC_EPILOGUE_AUX_POINTER, on_mask.data());
  set(CUBLASLT_MATMUL_DESC_EPILOGUE_AUX_LD, std::int64_t{one.aux_ld()});
  set(CUBLASLT_MATMUL_PREF_MAX_WORKSPACE_BYTES, std::uint64_t{one.split ? kWorkspace : 0});
  EXPECT_EQ(CUBLAS_STATUS_SUCCESS, status);
}

Prepared::~Prepared() {
  cublasLtMatmulPreferenceDestroy(preference);
  for (cublasLtMatrixLayout_t layout : {a_layout, b_layout, c_layout, d_layout}) {
    cublasLtMatrixLayoutDestroy(layout);
  }
  cublasLtMatmulDescDestroy(operation);
  cublasLtDestroy(handle);
}

std::vector<cublasLtMatmulHeuristicResult_t> Prepared::algorithms(int most) {
  std::vector<cublasLtMatmulHeuristicResult_t> results(static_cast<std::size_t>(most));
  int count = 0;
  status = cublasLtMatmulAlgoGetHeuristic(handle, operation, a_layout, b_layout, c_layout, d_layout,
                                          preference, most, results.data(), &count);
  results.resize(static_cast<std::size_t>(count));
  return results;
}

cublasStatus_t Prepared::multiply(const cublasLtMatmulAlgo_t* algorithm) {
  return cublasLtMatmul(handle, operation, alpha, a, a_layout, b, b_layout, beta, c, c_layout, d,
                        d_layout, algorithm, workspace, workspace_bytes, stream);
}

cublasStatus_t run_product(const ProductCase& product, ProductData& data) {
  Prepared made(product);
  const auto found = made.algorithms(1);
  if (found.empty()) return made.status;
  if (const cublasStatus_t status = made.multiply(&found[0].algo)) return status;
  data = made.before;
  made.on_d.read(data.d.data.data());
  made.on_bias.read(data.bias.data());
  made.on_mask.read(data.mask.data());
  return CUBLAS_STATUS_SUCCESS;
}

}  // namespace stepscope::cudasim
