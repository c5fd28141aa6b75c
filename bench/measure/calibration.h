// Calibration: what the instrument and the machine cost, measured in the run itself. Lower bounds
// to read a result by; nothing is ever subtracted.
//
// Rows, in this order; quartiles beside each median, and the note says what was run:
//   stamp_cost, stamp_resolution         ns      one reading of the clock; its smallest step
//   empty_sync                           ns      waiting for a stream without work
//   null_plan_per_op_{eager,planned,graph}  ns/op  a step of 100 ops whose kernels are empty
//   tape_empty_calls_{1,10,100,1000}     ns      one replay of that many empty calls
//   tape_per_call_{1,10,100,1000}        ns/op   the same, divided
//   library_call                         ns/op   chain:100:1 planned, on the backend
//   fork_join                            ns      an empty parallel region of the team
//   core_handshake                       ns      round trip of a cache line between two cores
//   bandwidth_read_{l1,l2,l3,dram}       GB/s    one core (bench/measure/bandwidth.h)
//   bandwidth_read_write_{l1,l2,l3,dram} GB/s
//   fma_peak                             GFLOP/s f32, one core (bench/measure/fma_peak.h)
// A record has rows behind these, not made here (bench/measure/limits.h). Their value is the
// fastest sample of all probes of the run, and they have no quartiles:
//   fma_peak_best                        GFLOP/s before and behind each batch size of each process
//   bandwidth_best_{l1,l2,l3}            GB/s    at the end of each process
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <vector>

#include "backends/api/backend.h"
#include "bench/measure/timer.h"
#include "bench/record/samples.h"

namespace stepscope {

struct CalibrationOptions {
  bool machine = true;  // false: without bandwidths and the arithmetic peak, which take most time
};

// About a second and a half. What cannot be measured is a row without a value and with the reason.
std::vector<CalibrationRow> calibrate(Timer& timer, Backend& backend, int threads,
                                      const CalibrationOptions& options = {});

}  // namespace stepscope
