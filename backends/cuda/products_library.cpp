// The calls of cuBLASLt: descriptors, heuristic, product.
// SPDX-License-Identifier: Apache-2.0
#include "backends/cuda/products_library.h"

#include <fmt/format.h>

#include <array>
#include <bit>
#include <span>

#include "backends/cuda/memory.h"

namespace stepscope::cuda {
namespace {

// NVIDIA's recommendation for a Hopper GPU (cuBLAS documentation, cublasSetWorkspace); others are
// recommended less. Without split-K hardly an algorithm takes any, and the arena holds what the
// chosen one asks for, not this.
constexpr std::uint64_t kMostWorkspace = std::uint64_t{32} << 20;
// How many the heuristic may offer. The first that can run is taken: by its state, and by what the
// library says when it is asked again about that one.
constexpr int kOffers = 8;

template <class Value>
void set(cublasLtMatmulDescOpaque_t& operation, cublasLtMatmulDescAttributes_t attribute,
         const Value& value) {
  check_lt(cublasLtMatmulDescSetAttribute(&operation, attribute, &value, sizeof value),
           "cublasLtMatmulDescSetAttribute");
}

template <class Value>
void set(cublasLtMatmulPreferenceOpaque_t& preference,
         cublasLtMatmulPreferenceAttributes_t attribute, const Value& value) {
  check_lt(cublasLtMatmulPreferenceSetAttribute(&preference, attribute, &value, sizeof value),
           "cublasLtMatmulPreferenceSetAttribute");
}

std::int32_t operation_of(bool transposed) { return transposed ? CUBLAS_OP_T : CUBLAS_OP_N; }

// The library's A is b.
cublasLtEpilogue_t epilogue_of(Epilogue epilogue) {
  switch (epilogue) {
    case Epilogue::none:
      break;
    case Epilogue::bias:
      return CUBLASLT_EPILOGUE_BIAS;
    case Epilogue::bias_relu:
      return CUBLASLT_EPILOGUE_RELU_BIAS;
    case Epilogue::bias_relu_mask:
      return CUBLASLT_EPILOGUE_RELU_AUX_BIAS;
    case Epilogue::mask_gate:
      return CUBLASLT_EPILOGUE_DRELU;
    case Epilogue::b_sums:
      return CUBLASLT_EPILOGUE_BGRADA;
  }
  return CUBLASLT_EPILOGUE_DEFAULT;
}

bool has_vector(Epilogue epilogue) {
  return epilogue != Epilogue::none && epilogue != Epilogue::mask_gate;
}
bool has_mask(Epilogue epilogue) {
  return epilogue == Epilogue::bias_relu_mask || epilogue == Epilogue::mask_gate;
}

// A row of c is a column of the library's D. cublasLt.h: "must be divisible by 128".
std::int64_t mask_row_bits(std::int64_t columns) { return (columns + 127) / 128 * 128; }

// Of a row-major operand {rows, columns}, or of its transpose as it lies in memory.
void init_layout(cublasLtMatrixLayoutOpaque_t& layout, std::int64_t rows, std::int64_t columns,
                 bool transposed) {
  if (transposed) std::swap(rows, columns);
  check_lt(cublasLtMatrixLayoutInit(&layout, CUDA_R_32F, static_cast<std::uint64_t>(columns),
                                    static_cast<std::uint64_t>(rows), columns),
           "cublasLtMatrixLayoutInit");
}

cublasLtMatmulPreferenceOpaque_t preference_of(SplitK split_k) {
  cublasLtMatmulPreferenceOpaque_t preference{};
  check_lt(cublasLtMatmulPreferenceInit(&preference), "cublasLtMatmulPreferenceInit");
  set(preference, CUBLASLT_MATMUL_PREF_MAX_WORKSPACE_BYTES, kMostWorkspace);
  // Parts of a split sum meet in the workspace and are added by a step of their own: one order,
  // always the same. Adding them where the result goes is not asked for.
  const std::uint32_t reductions = split_k == SplitK::off ? CUBLASLT_REDUCTION_SCHEME_NONE
                                                          : CUBLASLT_REDUCTION_SCHEME_COMPUTE_TYPE;
  set(preference, CUBLASLT_MATMUL_PREF_REDUCTION_SCHEME_MASK, reductions);
  for (const auto attribute :
       {CUBLASLT_MATMUL_PREF_MIN_ALIGNMENT_A_BYTES, CUBLASLT_MATMUL_PREF_MIN_ALIGNMENT_B_BYTES,
        CUBLASLT_MATMUL_PREF_MIN_ALIGNMENT_C_BYTES, CUBLASLT_MATMUL_PREF_MIN_ALIGNMENT_D_BYTES}) {
    set(preference, attribute, static_cast<std::uint32_t>(kAlignment));
  }
  return preference;
}

}  // namespace

std::size_t mask_bytes(std::int64_t rows, std::int64_t columns) {
  return static_cast<std::size_t>(rows * mask_row_bits(columns) / 8);
}

std::string to_text(const Problem& problem) {
  constexpr std::array kEpilogues = {"",
                                     ", with a bias",
                                     ", with a bias and relu",
                                     ", with a bias, relu and its mask",
                                     ", where a mask lets it through",
                                     ", with the column sums of b"};
  return fmt::format("{}x{}x{}{}{}{}{}", problem.M, problem.K, problem.N,
                     problem.transpose_a ? ", a transposed" : "",
                     problem.transpose_b ? ", b transposed" : "",
                     problem.subtracted ? ", subtracted" : "",
                     kEpilogues[static_cast<std::size_t>(problem.epilogue)]);
}

LibraryProduct::LibraryProduct(const Problem& problem, Tf32 tf32)
    : subtracted_(problem.subtracted),
      vector_{CUBLASLT_MATMUL_DESC_BIAS_POINTER, has_vector(problem.epilogue)},
      mask_{CUBLASLT_MATMUL_DESC_EPILOGUE_AUX_POINTER, has_mask(problem.epilogue)} {
  const auto compute = tf32 == Tf32::on ? CUBLAS_COMPUTE_32F_FAST_TF32 : CUBLAS_COMPUTE_32F;
  check_lt(cublasLtMatmulDescInit(&operation_, compute, CUDA_R_32F), "cublasLtMatmulDescInit");
  set(operation_, CUBLASLT_MATMUL_DESC_TRANSA, operation_of(problem.transpose_b));
  set(operation_, CUBLASLT_MATMUL_DESC_TRANSB, operation_of(problem.transpose_a));
  set(operation_, CUBLASLT_MATMUL_DESC_EPILOGUE, epilogue_of(problem.epilogue));
  if (mask_.is_used) {
    set(operation_, CUBLASLT_MATMUL_DESC_EPILOGUE_AUX_LD, mask_row_bits(problem.N));
  }
  init_layout(a_, problem.M, problem.K, problem.transpose_a);
  init_layout(b_, problem.K, problem.N, problem.transpose_b);
  init_layout(c_, problem.M, problem.N, false);
}

std::optional<Algorithm> LibraryProduct::choose(cublasLtHandle_t handle, SplitK split_k,
                                                std::string& answer) {
  // The choice may depend on how vector and mask are aligned, and there are none yet: an address
  // that is aligned as all of them are, and that the heuristic does not follow.
  const auto* somewhere = std::bit_cast<const void*>(std::uintptr_t{kAlignment});
  point_at(vector_, somewhere);
  point_at(mask_, somewhere);
  cublasLtMatmulPreferenceOpaque_t preference = preference_of(split_k);
  std::array<cublasLtMatmulHeuristicResult_t, kOffers> offers{};
  int count = 0;
  const cublasStatus_t status = cublasLtMatmulAlgoGetHeuristic(
      handle, &operation_, &b_, &a_, &c_, &c_, &preference, kOffers, offers.data(), &count);
  if (status != CUBLAS_STATUS_NOT_SUPPORTED) check_lt(status, "cublasLtMatmulAlgoGetHeuristic");
  cublasStatus_t why = status;
  if (status == CUBLAS_STATUS_SUCCESS) {
    for (const auto& offer : std::span(offers).first(static_cast<std::size_t>(count))) {
      why = offer.state;
      if (why != CUBLAS_STATUS_SUCCESS) continue;
      if (const auto algorithm = checked(handle, offer.algo, why)) return algorithm;
    }
  }
  answer = fmt::format("{}, {} algorithms", cublasLtGetStatusName(why), count);
  return std::nullopt;
}

std::optional<Algorithm> LibraryProduct::checked(cublasLtHandle_t handle,
                                                 const cublasLtMatmulAlgo_t& offer,
                                                 cublasStatus_t& why) const {
  cublasLtMatmulHeuristicResult_t result{};
  why = cublasLtMatmulAlgoCheck(handle, &operation_, &b_, &a_, &c_, &c_, &offer, &result);
  if (why == CUBLAS_STATUS_NOT_SUPPORTED || why == CUBLAS_STATUS_ARCH_MISMATCH) {
    return std::nullopt;
  }
  check_lt(why, "cublasLtMatmulAlgoCheck");
  why = result.state;
  if (why != CUBLAS_STATUS_SUCCESS) return std::nullopt;
  if (result.workspaceSize > kMostWorkspace) {
    why = CUBLAS_STATUS_NOT_SUPPORTED;
    return std::nullopt;
  }
  return Algorithm{offer, result.workspaceSize};
}

cublasStatus_t LibraryProduct::run(cublasLtHandle_t handle, const Algorithm& algorithm,
                                   const ProductOperands& operands, cudaStream_t stream) const {
  point_at(vector_, operands.vector);
  point_at(mask_, operands.mask);
  const float alpha = subtracted_ ? -1.0F : 1.0F;
  const float beta = subtracted_ ? 1.0F : 0.0F;
  const std::byte* added = subtracted_ ? operands.w : operands.c;
  return cublasLtMatmul(handle, &operation_, &alpha, operands.b, &b_, operands.a, &a_, &beta, added,
                        &c_, operands.c, &c_, &algorithm.number, operands.workspace,
                        algorithm.workspace, stream);
}

void LibraryProduct::point_at(Pointer& pointer, const void* address) const {
  if (!pointer.is_used || pointer.value == address) return;
  pointer.value = nullptr;  // unknown, should the call fail
  set(operation_, pointer.attribute, address);
  pointer.value = address;
}

}  // namespace stepscope::cuda
