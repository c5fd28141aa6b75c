// Running a product through cuBLASLt as a user does: one object for what the calls need, so that a
// test can spoil one part of it.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cublasLt.h>
#include <cuda_runtime_api.h>

#include <array>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "tests/backends/cuda/sim/cublaslt_case.h"

namespace stepscope::cudasim {

// Device memory with a copy of `bytes` in it, freed at the end.
class OnDevice {
 public:
  OnDevice(const void* from, std::size_t bytes);
  ~OnDevice();
  OnDevice(const OnDevice&) = delete;
  OnDevice& operator=(const OnDevice&) = delete;
  void* data() const { return data_; }
  void read(void* to) const;

 private:
  void* data_ = nullptr;
  std::size_t bytes_ = 0;
};

// Descriptors, memory and handle of a product; everything public, to be spoiled.
struct Prepared {
  explicit Prepared(const ProductCase& product);
  ~Prepared();
  Prepared(const Prepared&) = delete;
  Prepared& operator=(const Prepared&) = delete;

  // Algorithms in their order; empty and `status` set where the heuristic refused.
  std::vector<cublasLtMatmulHeuristicResult_t> algorithms(int most = 4);
  cublasStatus_t multiply(const cublasLtMatmulAlgo_t* algorithm);
  template <class Value>
  void set(cublasLtMatmulDescAttributes_t attribute, Value value) {
    status = cublasLtMatmulDescSetAttribute(operation, attribute, &value, sizeof value);
  }
  template <class Value>
  void set(cublasLtMatrixLayout_t layout, cublasLtMatrixLayoutAttribute_t attribute, Value value) {
    status = cublasLtMatrixLayoutSetAttribute(layout, attribute, &value, sizeof value);
  }
  template <class Value>
  void set(cublasLtMatmulPreferenceAttributes_t attribute, Value value) {
    status = cublasLtMatmulPreferenceSetAttribute(preference, attribute, &value, sizeof value);
  }

  ProductCase product;
  ProductData before;
  OnDevice on_a, on_b, on_c, on_d, on_bias, on_mask, on_workspace;
  const void *a, *b, *c;
  void *d, *workspace;
  std::size_t workspace_bytes;
  const void *alpha, *beta;
  cudaStream_t stream = nullptr;
  cublasStatus_t status = CUBLAS_STATUS_SUCCESS;
  cublasLtHandle_t handle = nullptr;
  cublasLtMatmulDesc_t operation = nullptr;
  cublasLtMatrixLayout_t a_layout = nullptr, b_layout = nullptr, c_layout = nullptr,
                         d_layout = nullptr;
  cublasLtMatmulPreference_t preference = nullptr;
};

}  // namespace stepscope::cudasim
