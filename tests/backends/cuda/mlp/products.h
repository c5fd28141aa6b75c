// The step's products as cuBLASLt computes them. Row-major {rows, features} is column-major
// {features, rows} to the library: so biases run along the rows of D, as its epilogues want them.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cublasLt.h>

#include <cstddef>
#include <cstdint>

namespace stepscope::mlp {

// One product, chosen once: descriptors, algorithm, addresses.
class Product {
 public:
  struct Matrix {  // column-major and dense
    const float* data;
    int rows, columns;
    bool transposed = false;
  };
  struct Epilogue {
    cublasLtEpilogue_t kind = CUBLASLT_EPILOGUE_DEFAULT;
    const float* bias = nullptr;          // or where its gradient goes
    const unsigned char* mask = nullptr;  // {columns of D, mask_ld(rows of D) / 8}
  };
  Product(cublasLtHandle_t handle, Matrix a, Matrix b, float* d, Epilogue epilogue, void* workspace,
          std::size_t workspace_bytes);
  ~Product();
  Product(const Product&) = delete;
  Product& operator=(const Product&) = delete;

  cublasStatus_t submit(cudaStream_t stream) const;
  std::size_t workspace() const { return chosen_.workspaceSize; }

 private:
  void choose(std::size_t workspace_bytes);

  cublasLtHandle_t handle_;
  Matrix a_, b_;
  float* d_;
  void* workspace_;
  cublasLtMatmulDesc_t operation_ = nullptr;
  cublasLtMatrixLayout_t a_layout_ = nullptr, b_layout_ = nullptr, d_layout_ = nullptr;
  cublasLtMatmulHeuristicResult_t chosen_{};
};

// Bits between the columns of a mask: cuBLASLt wants a multiple of 128.
constexpr std::int64_t mask_ld(int rows) { return (rows + 127) / 128 * 128; }
inline std::size_t mask_bytes(int rows, int columns) {
  return static_cast<std::size_t>(mask_ld(rows) / 8 * columns);
}

}  // namespace stepscope::mlp
