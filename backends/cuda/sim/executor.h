// Executor: runs the grid of one kernel, each CUDA thread as a fiber of the calling thread.
//
// Barriers, warp collectives, shared memory and atomics behave as the CUDA C++ Programming Guide
// promises, and no better: threads run one after the other until they block, __activemask() is the
// caller's own lane, shared memory begins as NaN. Deadlocks, divergent barriers and masks that lie
// are faults with file, line, block and thread; nothing hangs.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cuda_runtime_api.h>

#include <cstdint>
#include <optional>
#include <string>

#include "backends/cuda/sim/control.h"
#include "backends/cuda/sim/work.h"

namespace stepscope::cudasim {

struct DeviceFault {
  cudaError_t code;
  std::string text;  // one line
};

struct GridOrder {
  Order blocks = Order::ascending;
  Order threads = Order::ascending;
  std::uint64_t seed = 1;
};

// Requires: the launch's limits were checked, device memory is open (memory.h).
// After a fault the fibers that were still waiting are dropped.
std::optional<DeviceFault> run_grid(const KernelCall& call, const GridOrder& order);

// Whether the calling thread is inside run_grid: host functions of the simulator then refuse.
bool in_kernel();
// "block (0,0,0), thread (3,0,0)" of the fiber that runs; empty outside run_grid.
std::string running_thread();

void reset_watchdog();  // set_watchdog (control.h) was never called

// What a kernel may ask for; cudaFuncGetAttributes and launch checks use them.
inline constexpr unsigned kWarpSize = 32;
inline constexpr unsigned kMostThreads = 1024;              // of a block
inline constexpr std::size_t kSharedLimit = 48 * 1024;      // bytes of a block without opt-in
inline constexpr std::size_t kSharedOptIn = 227 * 1024;     // with it, as on an H200
inline constexpr std::size_t kMostParameterBytes = 32'764;  // from sm_70 and CUDA 12.1 on

}  // namespace stepscope::cudasim
