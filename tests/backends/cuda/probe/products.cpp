// Products: descriptors of cuBLASLt around the same two matrices.
// SPDX-License-Identifier: Apache-2.0
#include "tests/backends/cuda/probe/products.h"

#include "tests/backends/cuda/probe/report.h"

namespace stepscope::probe {

Floats::Floats(std::size_t count, const std::function<float(std::size_t)>& value) : host_(count) {
  for (std::size_t index = 0; index < count; ++index) {
    host_[index] = value(index);
  }
  must(cudaMalloc(reinterpret_cast<void**>(&device_), count * sizeof(float)), "cudaMalloc");
  must(cudaMemcpy(device_, host_.data(), count * sizeof(float), cudaMemcpyHostToDevice),
       "cudaMemcpy");
}

Floats::~Floats() { cudaFree(device_); }

std::vector<float> Floats::read() const {
  std::vector<float> values(host_.size());
  must(cudaDeviceSynchronize(), "cudaDeviceSynchronize");
  must(cudaMemcpy(values.data(), device_, values.size() * sizeof(float), cudaMemcpyDeviceToHost),
       "cudaMemcpy");
  return values;
}

Product::Product(cublasLtEpilogue_t epilogue, const Floats* bias, const void* mask, int rows) {
  must(cublasLtMatmulDescCreate(&operation_, CUBLAS_COMPUTE_32F, CUDA_R_32F),
       "cublasLtMatmulDescCreate");
  set(CUBLASLT_MATMUL_DESC_EPILOGUE, &epilogue, sizeof(epilogue));
  if (bias != nullptr) {
    const void* const pointer = bias->device();
    set(CUBLASLT_MATMUL_DESC_BIAS_POINTER, &pointer, sizeof(pointer));
  }
  if (mask != nullptr) {
    const std::int64_t bits = kRows;  // a multiple of 128, as it must be
    set(CUBLASLT_MATMUL_DESC_EPILOGUE_AUX_POINTER, &mask, sizeof(mask));
    set(CUBLASLT_MATMUL_DESC_EPILOGUE_AUX_LD, &bits, sizeof(bits));
  }
  const auto layout = [](cublasLtMatrixLayout_t& made, int high, int wide) {
    must(cublasLtMatrixLayoutCreate(&made, CUDA_R_32F, static_cast<std::uint64_t>(high),
                                    static_cast<std::uint64_t>(wide), high),
         "cublasLtMatrixLayoutCreate");
  };
  layout(a_, rows, kDepth);
  layout(b_, kDepth, kColumns);
  layout(d_, rows, kColumns);
  must(cublasLtMatmulPreferenceCreate(&preference_), "cublasLtMatmulPreferenceCreate");
  must(cublasLtMatmulPreferenceSetAttribute(preference_, CUBLASLT_MATMUL_PREF_MAX_WORKSPACE_BYTES,
                                            &kWorkspaceBytes, sizeof(kWorkspaceBytes)),
       "cublasLtMatmulPreferenceSetAttribute");
}

Product::~Product() {
  cublasLtMatmulPreferenceDestroy(preference_);
  for (const auto layout : {a_, b_, d_}) {
    cublasLtMatrixLayoutDestroy(layout);
  }
  cublasLtMatmulDescDestroy(operation_);
}

void Product::set(cublasLtMatmulDescAttributes_t attribute, const void* value, std::size_t bytes) {
  must(cublasLtMatmulDescSetAttribute(operation_, attribute, value, bytes),
       "cublasLtMatmulDescSetAttribute");
}

cublasStatus_t Product::choose(cublasLtHandle_t handle, cublasLtMatmulHeuristicResult_t& result,
                               int& found) const {
  found = 0;
  return cublasLtMatmulAlgoGetHeuristic(handle, operation_, a_, b_, d_, d_, preference_, 1, &result,
                                        &found);
}

cublasStatus_t Product::run(cublasLtHandle_t handle, const Floats& a, const Floats& b,
                            const Floats& d, const cublasLtMatmulAlgo_t* algorithm, void* workspace,
                            std::size_t workspace_bytes, cudaStream_t stream) const {
  const float one = 1, zero = 0;
  return cublasLtMatmul(handle, operation_, &one, a.device(), a_, b.device(), b_, &zero, d.device(),
                        d_, d.device(), d_, algorithm, workspace, workspace_bytes, stream);
}

float element_of_a(std::size_t index) { return static_cast<float>(index % 7) - 3; }
float element_of_b(std::size_t index) { return static_cast<float>(index % 5) - 2; }

float plain_product(const Floats& a, const Floats& b, int row, int column) {
  float sum = 0;
  for (int k = 0; k < kDepth; ++k) {
    sum += a.host()[static_cast<std::size_t>(k * kRows + row)] *
           b.host()[static_cast<std::size_t>(column * kDepth + k)];
  }
  return sum;
}

}  // namespace stepscope::probe
