// The rate of a step by its schedule: one thread, which reads rate and step count from memory.
// SPDX-License-Identifier: Apache-2.0
#define STEPSCOPE_RATE_FUNCTION __device__ inline
#include "backends/api/scheduled_rate.h"
#include "backends/cuda/device/operands.h"
#include "backends/cuda/device/run.h"
#include "backends/cuda/submission.cuh"

namespace stepscope::cuda {
namespace {

// rate {}, finished {} -> scheduled {}
__global__ void __launch_bounds__(1)
    schedule(const float* rate, const int* finished, float* scheduled, ScheduleNumbers numbers) {
  *scheduled = scheduled_rate(numbers, *rate, *finished);
}

}  // namespace

// rate {}, step {} -> rate times the factor of that step {}
cudaError_t run_scheduled_rate(Submission& to, Operands operands, const ScheduleNumbers& numbers) {
  return submit(to, 1, 1, 0, schedule, at<const float>(operands, 0), at<const int>(operands, 1),
                at(operands, 2), numbers);
}

}  // namespace stepscope::cuda
