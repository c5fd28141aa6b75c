// cublaslt_matmul: a product is checked, and handed to its stream.
// SPDX-License-Identifier: Apache-2.0
#include <array>
#include <bit>
#include <cstddef>
#include <utility>
#include <vector>

#include "backends/cuda/sim/call.h"
#include "backends/cuda/sim/cublaslt.h"
#include "backends/cuda/sim/cublaslt_objects.h"
#include "backends/cuda/sim/stream.h"

namespace stepscope::cudasim {
namespace {

struct Operands {
  const void *a, *b, *c;
  void *d, *workspace;
  std::size_t workspace_bytes;
};

// An algorithm that a heuristic found, and found for this product.
std::optional<AlgorithmFields> algorithm_for(const Problem& problem,
                                             const cublasLtMatmulAlgo_t* algorithm) {
  const auto fields = fields_of<AlgorithmFields>(algorithm);
  if (!fields || fields->seal != seal_of(*fields) || fields->problem != hash_of(problem)) {
    return std::nullopt;
  }
  return fields;
}

bool is_aligned(const void* data, std::size_t alignment) {
  return std::bit_cast<std::uintptr_t>(data) % alignment == 0;
}

bool are_aligned(const Problem& problem, const Operands& operands,
                 const AlgorithmFields& algorithm) {
  const std::array<const void*, 6> data = {operands.a,
                                           operands.b,
                                           operands.c,
                                           operands.d,
                                           std::bit_cast<const void*>(problem.operation.bias),
                                           std::bit_cast<const void*>(problem.operation.aux)};
  for (std::size_t i = 0; i < data.size(); ++i) {
    const bool used = i < 4 || (i == 4 ? bias_bytes(problem) : aux_bytes(problem)) != 0;
    if (used && (data[i] == nullptr || !is_aligned(data[i], algorithm.alignment[i]))) return false;
  }
  return operands.workspace == nullptr || is_aligned(operands.workspace, kBestAlignment);
}

bool overlap(const Extent& one, const Extent& other) {
  const auto* first = static_cast<const std::byte*>(one.data);
  const auto* second = static_cast<const std::byte*>(other.data);
  return one.bytes != 0 && other.bytes != 0 && first < second + other.bytes &&
         second < first + one.bytes;
}

bool same_layout(const LayoutFields& one, const LayoutFields& other) {
  return one.ld == other.ld && one.order == other.order;
}

// What the product reads, and what it writes. C that is D is in place, and stands once.
struct Touched {
  std::vector<Extent> read, written;
};
Touched touched_by(const Problem& problem, const Operands& operands, float beta) {
  const Layouts& layouts = problem.layouts;
  Touched touched;
  touched.read = {{operands.a, extent_of(layouts.a)}, {operands.b, extent_of(layouts.b)}};
  touched.written = {{operands.d, extent_of(layouts.d)}};
  if (beta != 0 && operands.c != operands.d)
    touched.read.push_back({operands.c, extent_of(layouts.c)});
  const Epilogue epilogue = *epilogue_of(problem.operation);
  if (const std::size_t bytes = bias_bytes(problem)) {
    const Extent bias{std::bit_cast<const void*>(problem.operation.bias), bytes};
    (epilogue.bias ? touched.read : touched.written).push_back(bias);
  }
  if (const std::size_t bytes = aux_bytes(problem)) {
    const Extent aux{std::bit_cast<const void*>(problem.operation.aux), bytes};
    (epilogue.mask ? touched.written : touched.read).push_back(aux);
  }
  if (operands.workspace != nullptr) {
    touched.written.push_back({operands.workspace, operands.workspace_bytes});
  }
  return touched;
}

// Nothing that is written lies over anything else.
bool is_apart(const Touched& touched) {
  for (std::size_t i = 0; i < touched.written.size(); ++i) {
    const Extent& written = touched.written[i];
    for (const Extent& read : touched.read) {
      if (overlap(written, read)) return false;
    }
    for (std::size_t j = 0; j < i; ++j) {
      if (overlap(written, touched.written[j])) return false;
    }
  }
  return true;
}

MatrixView view(const void* data, const LayoutFields& layout, std::int32_t operation) {
  MatrixView matrix{static_cast<float*>(const_cast<void*>(data)), 1, layout.ld};
  if (layout.order == CUBLASLT_ORDER_ROW) std::swap(matrix.row_step, matrix.column_step);
  if (operation == CUBLAS_OP_T) std::swap(matrix.row_step, matrix.column_step);
  return matrix;
}

Product product_of(const Problem& problem, const Operands& operands, float alpha, float beta,
                   const AlgorithmFields& algorithm) {
  const Layouts& layouts = problem.layouts;
  const OperationFields& operation = problem.operation;
  Product product;
  product.m = problem.m;
  product.n = problem.n;
  product.k = problem.k;
  product.a = view(operands.a, layouts.a, operation.transpose_a);
  product.b = view(operands.b, layouts.b, operation.transpose_b);
  product.c = view(operands.c, layouts.c, CUBLAS_OP_N);
  product.d = view(operands.d, layouts.d, CUBLAS_OP_N);
  product.alpha = alpha;
  product.beta = beta;
  product.epilogue = *epilogue_of(operation);
  product.epilogue.bias_data = std::bit_cast<float*>(operation.bias);
  product.epilogue.aux = std::bit_cast<std::uint8_t*>(operation.aux);
  if (algorithm.workspace != 0) product.workspace = static_cast<float*>(operands.workspace);
  return product;
}

cublasStatus_t submit_product(const Problem& problem, const AlgorithmFields& algorithm,
                              const Product& product, const Touched& touched, cudaStream_t handle) {
  CUstream_st* stream = stream_of(handle);
  if (stream == nullptr) return CUBLAS_STATUS_INVALID_VALUE;
  LibraryCall work;
  work.name = "cublasLtMatmul";
  work.problem = hash_of(problem) + (algorithm.workspace != 0 ? 1 : 0);
  work.touches = touched.read;
  work.touches.insert(work.touches.end(), touched.written.begin(), touched.written.end());
  work.run = [product] { multiply(product); };
  const cudaError_t error = submit(*stream, std::move(work));
  return error == cudaSuccess ? CUBLAS_STATUS_SUCCESS : CUBLAS_STATUS_EXECUTION_FAILED;
}

cublasStatus_t matmul(cublasLtHandle_t handle, cublasLtMatmulDesc_t operation,
                      const std::array<cublasLtMatrixLayout_t, 4>& layouts,
                      const Operands& operands, const void* alpha, const void* beta,
                      const cublasLtMatmulAlgo_t* algorithm, cudaStream_t stream) {
  if (!is_live(handle)) return CUBLAS_STATUS_NOT_INITIALIZED;
  if (alpha == nullptr || beta == nullptr) return CUBLAS_STATUS_INVALID_VALUE;
  Problem problem;
  if (const cublasStatus_t status = read_problem(operation, layouts, problem)) return status;
  // The library would choose one now. What it chooses is part of a measurement, so no code under
  // test may leave it open.
  if (algorithm == nullptr) return CUBLAS_STATUS_NOT_SUPPORTED;
  const auto chosen = algorithm_for(problem, algorithm);
  if (!chosen || !are_aligned(problem, operands, *chosen)) return CUBLAS_STATUS_INVALID_VALUE;
  if (chosen->workspace > operands.workspace_bytes ||
      (chosen->workspace != 0 && operands.workspace == nullptr)) {
    return CUBLAS_STATUS_INVALID_VALUE;
  }
  // cuBLAS documentation, cublasLtMatmul(): in place are "C == D and Cdesc == Ddesc", whatever
  // beta.
  if (operands.c == operands.d && !same_layout(problem.layouts.c, problem.layouts.d)) {
    return CUBLAS_STATUS_INVALID_VALUE;
  }
  const float by = *static_cast<const float*>(alpha), plus = *static_cast<const float*>(beta);
  const Touched touched = touched_by(problem, operands, plus);
  if (!is_apart(touched)) return CUBLAS_STATUS_INVALID_VALUE;
  return submit_product(problem, *chosen, product_of(problem, operands, by, plus, *chosen), touched,
                        stream);
}

}  // namespace
}  // namespace stepscope::cudasim

using namespace stepscope::cudasim;

extern "C" cublasStatus_t cublasLtMatmul(cublasLtHandle_t handle, cublasLtMatmulDesc_t operation,
                                         const void* alpha, const void* a,
                                         cublasLtMatrixLayout_t a_layout, const void* b,
                                         cublasLtMatrixLayout_t b_layout, const void* beta,
                                         const void* c, cublasLtMatrixLayout_t c_layout, void* d,
                                         cublasLtMatrixLayout_t d_layout,
                                         const cublasLtMatmulAlgo_t* algorithm, void* workspace,
                                         size_t workspace_bytes, cudaStream_t stream) {
  return call(CallId::cublasLtMatmul, [&] {
    const Operands operands{a, b, c, d, workspace, workspace_bytes};
    return matmul(handle, operation, {a_layout, b_layout, c_layout, d_layout}, operands, alpha,
                  beta, algorithm, stream);
  });
}
