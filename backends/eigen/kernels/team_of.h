// The team of one product.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <omp.h>

#include "backends/eigen/kernels/kernels.h"

namespace stepscope::eigen::STEPSCOPE_EIGEN_ISA {

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

}  // namespace stepscope::eigen::STEPSCOPE_EIGEN_ISA
