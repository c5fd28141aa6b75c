// MatMul: Eigen's product, written without a temporary.
// SPDX-License-Identifier: Apache-2.0
#include <omp.h>

#include "backends/eigen/kernels/kernels.h"
#include "backends/eigen/kernels/library.h"

namespace stepscope::eigen::STEPSCOPE_EIGEN_ISA {
namespace {

// Eigen asks OpenMP how many threads a product may have. The answer is a setting of the calling
// thread, so it is made the site's own around each product: Eigen's setNbThreads() would be one
// number for all backends and all threads of the process.
class TeamOf {
 public:
  explicit TeamOf(int threads)
      : threads_(threads), before_(omp_get_max_threads()), dynamic_before_(omp_get_dynamic()) {
    if (before_ != threads_) omp_set_num_threads(threads_);
    if (dynamic_before_ != 0) omp_set_dynamic(0);
  }
  ~TeamOf() {
    if (before_ != threads_) omp_set_num_threads(before_);
    if (dynamic_before_ != 0) omp_set_dynamic(dynamic_before_);
  }
  TeamOf(const TeamOf&) = delete;
  TeamOf& operator=(const TeamOf&) = delete;

 private:
  int threads_;
  int before_;
  int dynamic_before_;
};

}  // namespace

// a {M, K} or, transposed, {K, M}; b {K, N} or {N, K}; c {M, N}
void MatMul(Operands operands, const Product& site) {
  const auto [M, N, K, transpose_a, transpose_b, threads] = site;
  const float* a = f32(operands, 0);
  const float* b = f32(operands, 1);
  Map<Matrix> c(f32(operands, 2), M, N);
  const TeamOf team(threads);
  if (transpose_a && transpose_b) {
    c.noalias() = Map<const Matrix>(a, K, M).transpose() * Map<const Matrix>(b, N, K).transpose();
  } else if (transpose_a) {
    c.noalias() = Map<const Matrix>(a, K, M).transpose() * Map<const Matrix>(b, K, N);
  } else if (transpose_b) {
    c.noalias() = Map<const Matrix>(a, M, K) * Map<const Matrix>(b, N, K).transpose();
  } else {
    c.noalias() = Map<const Matrix>(a, M, K) * Map<const Matrix>(b, K, N);
  }
}

}  // namespace stepscope::eigen::STEPSCOPE_EIGEN_ISA
