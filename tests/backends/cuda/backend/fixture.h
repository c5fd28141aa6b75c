// Fixture of the backend's tests: as the simulator's, and at the end no kernel or copy met memory
// that was gone.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "backends/cuda/error.h"
#include "tests/backends/cuda/sim/fixture.h"

namespace stepscope::cuda::test {

// Runs whatever nobody waited for: memory that was freed too early shows itself only there.
inline std::string fault_at_the_end() {
  forget(cudaDeviceSynchronize());
  return cudasim::device_fault();
}

class DeviceTest : public cudasim::SimTest {
 protected:
  void TearDown() override {
    const std::string fault = fault_at_the_end();
    if (!fault_is_planned_) {
      EXPECT_EQ(fault, "");
    }
    SimTest::TearDown();
  }
  void plan_a_fault() { fault_is_planned_ = true; }

  // As the end of a test and the beginning of another, for a test of many runs. A device that is
  // not made anew never uses an address again, and closing all of them costs more with each run.
  void begin_anew(const cudasim::Settings& settings) {
    EXPECT_EQ(fault_at_the_end(), "");
    for (const cudasim::LintFound& found : cudasim::finish()) ADD_FAILURE() << found.text;
    cudasim::reset(settings);
  }

 private:
  bool fault_is_planned_ = false;
};

}  // namespace stepscope::cuda::test
