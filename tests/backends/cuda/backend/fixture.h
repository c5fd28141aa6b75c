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

 private:
  bool fault_is_planned_ = false;
};

}  // namespace stepscope::cuda::test
