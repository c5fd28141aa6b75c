// Products of cuBLASLt, small and of whole numbers, so that every rounding gives the same.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cublasLt.h>

#include <cstddef>
#include <cstdint>
#include <functional>
#include <vector>

namespace stepscope::probe {

constexpr int kRows = 128, kColumns = 32, kDepth = 64;  // of D {rows, columns}; the sum's length
constexpr std::size_t kWorkspaceBytes = std::size_t{4} << 20;

// Memory of the device, and a copy on the host.
class Floats {
 public:
  Floats(std::size_t count, const std::function<float(std::size_t)>& value);
  ~Floats();
  Floats(const Floats&) = delete;
  Floats& operator=(const Floats&) = delete;
  float* device() const { return device_; }
  const std::vector<float>& host() const { return host_; }
  std::vector<float> read() const;

 private:
  std::vector<float> host_;
  float* device_ = nullptr;
};

// D = A * B, column-major, with an epilogue; A {kRows, kDepth}, B {kDepth, kColumns}.
class Product {
 public:
  Product(cublasLtEpilogue_t epilogue, const Floats* bias, const void* mask, int rows = kRows);
  ~Product();
  Product(const Product&) = delete;
  Product& operator=(const Product&) = delete;

  cublasLtMatmulDesc_t operation() const { return operation_; }
  // Whether there is an algorithm: `found` is 0 or 1, whatever the status.
  cublasStatus_t choose(cublasLtHandle_t handle, cublasLtMatmulHeuristicResult_t& result,
                        int& found) const;
  cublasStatus_t run(cublasLtHandle_t handle, const Floats& a, const Floats& b, const Floats& d,
                     const cublasLtMatmulAlgo_t* algorithm, void* workspace,
                     std::size_t workspace_bytes, cudaStream_t stream) const;

 private:
  void set(cublasLtMatmulDescAttributes_t attribute, const void* value, std::size_t bytes);

  cublasLtMatmulDesc_t operation_ = nullptr;
  cublasLtMatrixLayout_t a_ = nullptr, b_ = nullptr, d_ = nullptr;
  cublasLtMatmulPreference_t preference_ = nullptr;
};

// A and B of all products here, and element {row, column} of A * B in plain loops.
float element_of_a(std::size_t index);
float element_of_b(std::size_t index);
float plain_product(const Floats& a, const Floats& b, int row, int column);

}  // namespace stepscope::probe
