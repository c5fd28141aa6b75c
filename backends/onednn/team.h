// The OpenMP thread count of the backend, set around what the library makes and executes.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <omp.h>

namespace stepscope::onednn {

// The library asks OpenMP how many threads it has, when it makes a primitive and when it executes
// one, and computes wrong results without a word when the second answer is smaller. The answer is a
// setting of the calling thread; nothing is set where it is right already.
class Team {
 public:
  explicit Team(int threads)
      : threads_(threads), before_(omp_get_max_threads()), dynamic_before_(omp_get_dynamic()) {
    if (before_ != threads_) omp_set_num_threads(threads_);
    if (dynamic_before_ != 0) omp_set_dynamic(0);
  }
  ~Team() {
    if (before_ != threads_) omp_set_num_threads(before_);
    if (dynamic_before_ != 0) omp_set_dynamic(dynamic_before_);
  }
  Team(const Team&) = delete;
  Team& operator=(const Team&) = delete;

 private:
  int threads_;
  int before_;
  int dynamic_before_;
};

}  // namespace stepscope::onednn
