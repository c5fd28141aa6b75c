// cublaslt_problem: what a product must be, and what its operands span.
// SPDX-License-Identifier: Apache-2.0
#include <array>
#include <limits>

#include "backends/cuda/sim/cublaslt.h"

namespace stepscope::cudasim {
namespace {

constexpr std::int64_t kAuxStep = 128;  // bits; cublasLt.h: "must be divisible by 128"

// FNV-1a over eight bytes at a time, stirred: equal in every process, since an algorithm may be
// stored in a file.
struct Hash {
  std::uint64_t value = 0xcbf29ce484222325;
  void add(std::uint64_t part) {
    value = (value ^ part) * 0x100000001b3;
    value ^= value >> 29;
  }
};

bool transposed(std::int32_t operation) { return operation == CUBLAS_OP_T; }

cublasStatus_t check_layout(const LayoutFields& layout) {
  if (layout.type != CUDA_R_32F || layout.batch_count != 1) return CUBLAS_STATUS_NOT_SUPPORTED;
  if (layout.order != CUBLASLT_ORDER_COL && layout.order != CUBLASLT_ORDER_ROW) {
    return CUBLAS_STATUS_NOT_SUPPORTED;
  }
  constexpr std::uint64_t kMost = std::numeric_limits<std::int32_t>::max();
  if (layout.rows == 0 || layout.columns == 0) return CUBLAS_STATUS_INVALID_VALUE;
  if (layout.rows > kMost || layout.columns > kMost) return CUBLAS_STATUS_NOT_SUPPORTED;
  const std::uint64_t inner = layout.order == CUBLASLT_ORDER_COL ? layout.rows : layout.columns;
  if (layout.ld < static_cast<std::int64_t>(inner)) return CUBLAS_STATUS_INVALID_VALUE;
  return CUBLAS_STATUS_SUCCESS;
}

cublasStatus_t check_operation(const OperationFields& operation) {
  for (const std::int32_t op : {operation.transpose_a, operation.transpose_b}) {
    if (op == CUBLAS_OP_C) return CUBLAS_STATUS_NOT_SUPPORTED;
    if (op != CUBLAS_OP_N && op != CUBLAS_OP_T) return CUBLAS_STATUS_INVALID_VALUE;
  }
  if (operation.compute_type != CUBLAS_COMPUTE_32F || operation.scale_type != CUDA_R_32F ||
      operation.pointer_mode != CUBLASLT_POINTER_MODE_HOST ||
      (operation.bias_type != -1 && operation.bias_type != CUDA_R_32F) || !epilogue_of(operation)) {
    return CUBLAS_STATUS_NOT_SUPPORTED;
  }
  return CUBLAS_STATUS_SUCCESS;
}

// Mixed orders, and row order with an epilogue that has a vector or a mask, are beyond what the
// documentation promises: refused until a device has shown what it does.
cublasStatus_t check_orders(const Layouts& layouts, const Epilogue& epilogue) {
  const std::int32_t order = layouts.d.order;
  for (const LayoutFields* layout : {&layouts.a, &layouts.b, &layouts.c}) {
    if (layout->order != order) return CUBLAS_STATUS_NOT_SUPPORTED;
  }
  const bool plain = !epilogue.bias && !epilogue.mask && !epilogue.relu_gradient &&
                     epilogue.bias_gradient == BiasGradient::none;
  return order == CUBLASLT_ORDER_COL || plain ? CUBLAS_STATUS_SUCCESS : CUBLAS_STATUS_NOT_SUPPORTED;
}

cublasStatus_t check_sizes(const Problem& problem) {
  const Layouts& layouts = problem.layouts;
  const bool turned = transposed(problem.operation.transpose_b);
  const std::uint64_t inner = turned ? layouts.b.columns : layouts.b.rows;
  const std::uint64_t columns = turned ? layouts.b.rows : layouts.b.columns;
  const bool fits = inner == static_cast<std::uint64_t>(problem.k) &&
                    layouts.d.rows == static_cast<std::uint64_t>(problem.m) &&
                    layouts.d.columns == columns && layouts.c.rows == layouts.d.rows &&
                    layouts.c.columns == layouts.d.columns;
  if (!fits) return CUBLAS_STATUS_INVALID_VALUE;
  if (const auto epilogue = epilogue_of(problem.operation);
      epilogue->mask || epilogue->relu_gradient) {
    const std::int64_t ld = problem.operation.aux_ld;
    if (ld % kAuxStep != 0 || ld < problem.m) return CUBLAS_STATUS_INVALID_VALUE;
  }
  return CUBLAS_STATUS_SUCCESS;
}

}  // namespace

cublasStatus_t problem_of(const OperationFields& operation, const Layouts& layouts,
                          Problem& problem) {
  if (const cublasStatus_t status = check_operation(operation)) return status;
  for (const LayoutFields* layout : {&layouts.a, &layouts.b, &layouts.c, &layouts.d}) {
    if (const cublasStatus_t status = check_layout(*layout)) return status;
  }
  const LayoutFields& a = layouts.a;
  const bool turned = transposed(operation.transpose_a);
  problem = {operation, layouts, static_cast<std::int64_t>(turned ? a.columns : a.rows),
             static_cast<std::int64_t>(layouts.d.columns),
             static_cast<std::int64_t>(turned ? a.rows : a.columns)};
  if (const cublasStatus_t status = check_sizes(problem)) return status;
  return check_orders(layouts, *epilogue_of(operation));
}

std::uint64_t hash_of(const Problem& problem) {
  Hash hash;
  const OperationFields& operation = problem.operation;
  for (const std::int64_t part :
       {std::int64_t{operation.compute_type}, std::int64_t{operation.scale_type},
        std::int64_t{operation.pointer_mode}, std::int64_t{operation.transpose_a},
        std::int64_t{operation.transpose_b}, std::int64_t{operation.epilogue},
        aux_bytes(problem) == 0 ? std::int64_t{0} : operation.aux_ld}) {
    hash.add(static_cast<std::uint64_t>(part));
  }
  const Layouts& layouts = problem.layouts;
  for (const LayoutFields* layout : {&layouts.a, &layouts.b, &layouts.c, &layouts.d}) {
    hash.add(layout->rows);
    hash.add(layout->columns);
    hash.add(static_cast<std::uint64_t>(layout->ld));
    hash.add(static_cast<std::uint64_t>(layout->order));
    hash.add(static_cast<std::uint64_t>(layout->type));
  }
  return hash.value;
}

std::uint64_t seal_of(const AlgorithmFields& algorithm) {
  Hash hash;
  hash.add(algorithm.problem);
  hash.add(algorithm.workspace);
  for (const std::uint8_t bytes : algorithm.alignment) hash.add(bytes);
  return hash.value;
}

std::optional<Epilogue> epilogue_of(const OperationFields& operation) {
  Epilogue epilogue;
  epilogue.aux_ld = operation.aux_ld;
  switch (operation.epilogue) {
    case CUBLASLT_EPILOGUE_DEFAULT:
      break;
    case CUBLASLT_EPILOGUE_RELU:
      epilogue.relu = true;
      break;
    case CUBLASLT_EPILOGUE_BIAS:
      epilogue.bias = true;
      break;
    case CUBLASLT_EPILOGUE_RELU_BIAS:
      epilogue.relu = epilogue.bias = true;
      break;
    case CUBLASLT_EPILOGUE_RELU_AUX:
      epilogue.relu = epilogue.mask = true;
      break;
    case CUBLASLT_EPILOGUE_RELU_AUX_BIAS:
      epilogue.relu = epilogue.mask = epilogue.bias = true;
      break;
    case CUBLASLT_EPILOGUE_DRELU:
      epilogue.relu_gradient = true;
      break;
    case CUBLASLT_EPILOGUE_DRELU_BGRAD:
      epilogue.relu_gradient = true;
      epilogue.bias_gradient = BiasGradient::of_d;
      break;
    case CUBLASLT_EPILOGUE_BGRADA:
      epilogue.bias_gradient = BiasGradient::of_a;
      break;
    case CUBLASLT_EPILOGUE_BGRADB:
      epilogue.bias_gradient = BiasGradient::of_b;
      break;
    default:
      return std::nullopt;
  }
  return epilogue;
}

std::size_t extent_of(const LayoutFields& layout) {
  const bool by_columns = layout.order == CUBLASLT_ORDER_COL;
  const std::uint64_t outer = by_columns ? layout.columns : layout.rows;
  const std::uint64_t inner = by_columns ? layout.rows : layout.columns;
  return ((outer - 1) * static_cast<std::uint64_t>(layout.ld) + inner) * sizeof(float);
}

std::size_t bias_bytes(const Problem& problem) {
  const Epilogue epilogue = *epilogue_of(problem.operation);
  if (epilogue.bias_gradient == BiasGradient::of_b) {
    return static_cast<std::size_t>(problem.n) * sizeof(float);
  }
  if (!epilogue.bias && epilogue.bias_gradient == BiasGradient::none) return 0;
  return static_cast<std::size_t>(problem.m) * sizeof(float);
}

std::size_t aux_bytes(const Problem& problem) {
  const Epilogue epilogue = *epilogue_of(problem.operation);
  if (!epilogue.mask && !epilogue.relu_gradient) return 0;
  return static_cast<std::size_t>(problem.n * problem.operation.aux_ld / 8);
}

}  // namespace stepscope::cudasim
