// Fixture of the simulator's tests: a fresh device for each case, and no lint left at its end.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cuda_runtime_api.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <initializer_list>
#include <ostream>
#include <string>
#include <vector>

#include "backends/cuda/sim/control.h"

// How gtest prints a status; found by the type's namespace, the global one.
inline void PrintTo(cudaError_t error, std::ostream* out) {
  *out << static_cast<int>(error) << " (" << cudaGetErrorName(error) << ")";
}

namespace stepscope::cudasim {

inline void PrintTo(Lint lint, std::ostream* out) { *out << name_of(lint); }

class SimTest : public testing::Test {
 protected:
  void SetUp() override { reset(settings_); }

  void TearDown() override {
    std::vector<Lint> kinds;
    std::string texts;
    for (const LintFound& found : finish()) {
      kinds.push_back(found.lint);
      texts += "\n  " + found.text;
    }
    std::sort(kinds.begin(), kinds.end());
    EXPECT_EQ(expected_, kinds) << "lints:" << texts;
    reset();
  }

  // The lints that the end of this test must find, one for each text, in any order.
  void expect_lints(std::initializer_list<Lint> kinds) {
    expected_ = kinds;
    std::sort(expected_.begin(), expected_.end());
  }

  // The call was refused with this code, which is the thread's last error; collects it, so that it
  // is no lint.
  static void expect_refused(cudaError_t code, cudaError_t result) {
    EXPECT_EQ(code, result);
    EXPECT_EQ(code, cudaGetLastError());
  }

  Settings settings_;  // a derived fixture may change them in its constructor

 private:
  std::vector<Lint> expected_;
};

}  // namespace stepscope::cudasim

#define CUDA_OK(call) ASSERT_EQ(cudaSuccess, (call))
