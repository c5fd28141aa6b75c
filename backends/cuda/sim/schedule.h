// schedule: which submitted tasks run when. Behind stream.h's waits and queries; control.cpp turns
// its knobs.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <string>

#include "backends/cuda/sim/control.h"
#include "backends/cuda/sim/executor.h"
#include "backends/cuda/sim/stream.h"

namespace stepscope::cudasim {

// Runs what the work asks for, now. Device memory is open where the work is the device's. Totals
// are counted here.
std::optional<DeviceFault> run_work(const Work& work, const GridOrder& order);
bool is_hosts(const Work& work);  // runs host code: device memory stays closed
// A callback of cudaStreamAddCallback hears of the fault that ended its stream.
void tell_callback(const Work& work, cudaError_t fault);

// Of the task that runs now, and of the last that was submitted: what was there when something
// happened to its memory.
std::uint64_t running_task();
std::uint64_t last_submitted();

Totals& counted();  // without what is allocated or waits now
std::size_t waiting_tasks();
Schedule current_schedule();
void change_schedule(Schedule schedule);
void change_orders(Order blocks, Order threads);

// A call was told to fail as the device would: the fault sticks, and nothing that waits runs.
void lose_device(cudaError_t code);
// The nth kernel that runs from now faults.
void plan_kernel_fault(cudaError_t code, int nth);
// From run_work, for each kernel: the fault that was planned for it.
std::optional<DeviceFault> planned_fault();
std::string fault_text();

void reset_schedule(const Settings& settings);
void reset_streams();

}  // namespace stepscope::cudasim
