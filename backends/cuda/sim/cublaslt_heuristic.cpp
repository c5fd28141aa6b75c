// cublaslt_heuristic: the two algorithms there are, and which of them a product may have.
// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <array>
#include <bit>
#include <cstddef>

#include "backends/cuda/sim/call.h"
#include "backends/cuda/sim/cublaslt.h"
#include "backends/cuda/sim/cublaslt_objects.h"

namespace stepscope::cudasim {
namespace {

constexpr std::int64_t kShortestSplit = 64;  // of k: below it the sum is never made in two halves
constexpr std::size_t kWorkspaceStep = 256;  // bytes

std::uint8_t alignment_of(std::uint64_t address) {  // null is aligned to everything
  const std::uint64_t lowest = address == 0 ? kBestAlignment : address & (~address + 1);
  return static_cast<std::uint8_t>(std::min<std::uint64_t>(lowest, kBestAlignment));
}

// Of the sum in two halves: both of them, as floats.
std::size_t split_workspace(const Problem& problem) {
  const auto elements = static_cast<std::size_t>(problem.m) * static_cast<std::size_t>(problem.n);
  const std::size_t bytes = 2 * elements * sizeof(float);
  return (bytes + kWorkspaceStep - 1) / kWorkspaceStep * kWorkspaceStep;
}

void add_result(const AlgorithmFields& algorithm, int room,
                cublasLtMatmulHeuristicResult_t* results, int& count) {
  if (count == room) return;
  cublasLtMatmulHeuristicResult_t& result = results[count++];
  result = {};
  AlgorithmFields sealed = algorithm;
  sealed.seal = seal_of(algorithm);
  put_fields(result.algo, sealed);
  result.workspaceSize = algorithm.workspace;
  result.state = CUBLAS_STATUS_SUCCESS;
  result.wavesCount = 1.0F;
}

// The sum in two halves comes first where it may: a caller that asked for one algorithm and has
// memory for it is given one that needs its workspace.
cublasStatus_t search(const Problem& problem, const PreferenceFields& preference, int room,
                      cublasLtMatmulHeuristicResult_t* results, int& count) {
  AlgorithmFields algorithm;
  algorithm.problem = hash_of(problem);
  for (std::size_t i = 0; i < 4; ++i) {
    const std::uint32_t wanted = std::bit_floor(preference.alignment[i]);
    if (wanted < sizeof(float)) return CUBLAS_STATUS_NOT_SUPPORTED;
    algorithm.alignment[i] =
        static_cast<std::uint8_t>(std::min<std::size_t>(wanted, kBestAlignment));
  }
  algorithm.alignment[4] = alignment_of(problem.operation.bias);
  algorithm.alignment[5] = alignment_of(problem.operation.aux);
  const bool may_split = problem.k >= kShortestSplit &&
                         (preference.reductions & CUBLASLT_REDUCTION_SCHEME_COMPUTE_TYPE) != 0;
  if (may_split && split_workspace(problem) <= preference.workspace) {
    algorithm.workspace = split_workspace(problem);
    add_result(algorithm, room, results, count);
    algorithm.workspace = 0;
  }
  add_result(algorithm, room, results, count);
  return CUBLAS_STATUS_SUCCESS;
}

cublasStatus_t heuristic(cublasLtHandle_t handle, cublasLtMatmulDesc_t operation,
                         const std::array<cublasLtMatrixLayout_t, 4>& layouts,
                         cublasLtMatmulPreference_t preference, int room,
                         cublasLtMatmulHeuristicResult_t* results, int* count) {
  if (!is_live(handle)) return CUBLAS_STATUS_NOT_INITIALIZED;
  const auto wishes = fields_of<PreferenceFields>(preference);
  if (!wishes || room <= 0 || results == nullptr || count == nullptr) {
    return CUBLAS_STATUS_INVALID_VALUE;
  }
  *count = 0;
  Problem problem;
  if (const cublasStatus_t status = read_problem(operation, layouts, problem)) return status;
  if (wishes->search_mode != CUBLASLT_SEARCH_BEST_FIT) return CUBLAS_STATUS_NOT_SUPPORTED;
  return search(problem, *wishes, room, results, *count);
}

// Whether an algorithm is one, and of this product; then what it asks for.
cublasStatus_t check_algorithm(cublasLtHandle_t handle, cublasLtMatmulDesc_t operation,
                               const std::array<cublasLtMatrixLayout_t, 4>& layouts,
                               const cublasLtMatmulAlgo_t* algorithm,
                               cublasLtMatmulHeuristicResult_t* result) {
  if (!is_live(handle)) return CUBLAS_STATUS_NOT_INITIALIZED;
  if (algorithm == nullptr || result == nullptr) return CUBLAS_STATUS_INVALID_VALUE;
  Problem problem;
  if (const cublasStatus_t status = read_problem(operation, layouts, problem)) return status;
  const auto fields = fields_of<AlgorithmFields>(algorithm);
  if (!fields || fields->seal != seal_of(*fields)) return CUBLAS_STATUS_INVALID_VALUE;
  if (fields->problem != hash_of(problem)) return CUBLAS_STATUS_NOT_SUPPORTED;
  result->algo = *algorithm;
  result->workspaceSize = fields->workspace;
  result->state = CUBLAS_STATUS_SUCCESS;
  result->wavesCount = 1.0F;
  return CUBLAS_STATUS_SUCCESS;
}

}  // namespace
}  // namespace stepscope::cudasim

using namespace stepscope::cudasim;

extern "C" cublasStatus_t cublasLtMatmulAlgoGetHeuristic(
    cublasLtHandle_t handle, cublasLtMatmulDesc_t operation, cublasLtMatrixLayout_t a,
    cublasLtMatrixLayout_t b, cublasLtMatrixLayout_t c, cublasLtMatrixLayout_t d,
    cublasLtMatmulPreference_t preference, int room, cublasLtMatmulHeuristicResult_t results[],
    int* count) {
  return call(CallId::cublasLtMatmulAlgoGetHeuristic, [&] {
    return heuristic(handle, operation, {a, b, c, d}, preference, room, results, count);
  });
}

extern "C" cublasStatus_t cublasLtMatmulAlgoCheck(
    cublasLtHandle_t handle, cublasLtMatmulDesc_t operation, cublasLtMatrixLayout_t a,
    cublasLtMatrixLayout_t b, cublasLtMatrixLayout_t c, cublasLtMatrixLayout_t d,
    const cublasLtMatmulAlgo_t* algorithm, cublasLtMatmulHeuristicResult_t* result) {
  return call(CallId::cublasLtMatmulAlgoCheck, [&] {
    return check_algorithm(handle, operation, {a, b, c, d}, algorithm, result);
  });
}
