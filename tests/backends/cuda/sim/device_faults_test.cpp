// Device faults: a kernel that breaks a rule of CUDA's is told so, with file, line, block and
// thread; and nothing hangs.
// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <sys/resource.h>

#include <cstdint>
#include <cstdlib>
#include <thread>

#include "backends/cuda/sim/executor.h"
#include "tests/backends/cuda/sim/device_rig.h"

namespace stepscope::cudasim {
namespace {

using DeviceFaults = DeviceTest;
using DeviceFaultsDeathTest = DeviceTest;

std::string at(int line) { return fmt::format("{}:{}", __FILE__, line); }

constexpr int kDivergent = __LINE__ + 3;
__global__ void divergent_barrier() {
  if (threadIdx.y == 1) {
    __syncthreads();
  } else {
    __syncthreads();
  }
}

TEST_F(DeviceFaults, DivergentBarrier) {
  expect_fault(fmt::format("divergent barrier: block (0,0,0), thread (0,1,0) at {}, but block "
                           "(0,0,0), thread (0,0,0) waits at {}",
                           at(kDivergent), at(kDivergent + 2)),
               dim3(1), dim3(4, 2), divergent_barrier);
}

constexpr int kDeadlock = __LINE__ + 3;
__global__ void deadlock() {
  if (threadIdx.x == 0) {
    __syncthreads();
  } else if (blockIdx.x == 1) {
    __shfl_sync(0xffffffffu, 1, 1);
  }
}

TEST_F(DeviceFaults, Deadlock) {
  // In block 0 the others leave; in block 1 they wait for lane 0, which waits for them.
  expect_fault(fmt::format("deadlock: no thread can go on; block (1,0,0), thread (0,0,0) waits in "
                           "__syncthreads at {}, and block (1,0,0), thread (1,0,0) waits in "
                           "__shfl_sync with mask 0xffffffff at {}",
                           at(kDeadlock), at(kDeadlock + 2)),
               dim3(3), dim3(8), deadlock);
}

constexpr int kAlien = __LINE__ + 3;
__global__ void mask_without_caller() {
  if (threadIdx.x == 5) {
    __syncwarp(0xffu & ~(1u << 5));
  }
}

TEST_F(DeviceFaults, MaskWithoutItsCaller) {
  expect_fault(fmt::format("__syncwarp with mask 0x000000df without the caller's own lane 5: block "
                           "(0,0,0), thread (5,0,0) at {}",
                           at(kAlien)),
               dim3(1), dim3(8), mask_without_caller);
}

constexpr int kMasks = __LINE__ + 3;
__global__ void masks_differ() {
  if (threadIdx.x < 4) {
    __any_sync(0xffu, 1);
  } else {
    __any_sync(0xf8u, 1);
  }
}

TEST_F(DeviceFaults, MasksThatNameEachOtherDiffer) {
  set_orders(Order::ascending, Order::descending);
  expect_fault(
      fmt::format("masks differ: block (0,0,0), thread (3,0,0) at {} calls __any_sync with "
                  "mask 0x000000ff, but block (0,0,0), thread (4,0,0) waits in __any_sync "
                  "with mask 0x000000f8 at {}",
                  at(kMasks), at(kMasks + 2)),
      dim3(1), dim3(8), masks_differ);
}

constexpr int kCalls = __LINE__ + 3;
__global__ void calls_differ() {
  if (threadIdx.x < 4) {
    __shfl_up_sync(0xffu, 1.0f, 1);
  } else {
    __shfl_down_sync(0xffu, 1.0f, 1);
  }
}

TEST_F(DeviceFaults, LanesMeetInDifferentCalls) {
  expect_fault(
      fmt::format("lanes meet in different calls: block (0,0,0), thread (4,0,0) at {} calls "
                  "__shfl_down_sync with mask 0x000000ff of 4 bytes, but block (0,0,0), "
                  "thread (0,0,0) waits in __shfl_up_sync with mask 0x000000ff at {}",
                  at(kCalls + 2), at(kCalls)),
      dim3(1), dim3(8), calls_differ);
}

constexpr int kWidths = __LINE__ + 3;
__global__ void bytes_differ() {
  if (threadIdx.x < 4) {
    __shfl_sync(0xffu, 1.0, 1);
  } else {
    __shfl_sync(0xffu, 1.0f, 1);
  }
}

TEST_F(DeviceFaults, LanesMeetWithDifferentTypes) {
  expect_fault(
      fmt::format("lanes meet in different calls: block (0,0,0), thread (4,0,0) at {} calls "
                  "__shfl_sync with mask 0x000000ff of 4 bytes, but block (0,0,0), thread "
                  "(0,0,0) waits in __shfl_sync with mask 0x000000ff at {}",
                  at(kWidths + 2), at(kWidths)),
      dim3(1), dim3(8), bytes_differ);
}

constexpr int kReader = __LINE__ + 3;
__global__ void read_lane_that_left() {
  if (threadIdx.x != 7) {
    __shfl_sync(0xffffffffu, 1, static_cast<int>(threadIdx.x) + 1);
  }
}

TEST_F(DeviceFaults, ShuffleReadsALaneThatTakesNoPart) {
  expect_fault(fmt::format("__shfl_sync with mask 0xffffffff reads lane 7, which takes no part: "
                           "block (0,0,0), thread (6,0,0) at {}",
                           at(kReader)),
               dim3(1), dim3(8), read_lane_that_left);
}

constexpr int kBadWidth = __LINE__ + 1;
__global__ void bad_width() { __shfl_xor_sync(0xffffffffu, 1, 1, 12); }

TEST_F(DeviceFaults, WidthIsAPowerOfTwo) {
  expect_fault(fmt::format("__shfl_xor_sync with mask 0xffffffff of width 12, not a power of 2 up "
                           "to 32: block (0,0,0), thread (0,0,0) at {}",
                           at(kBadWidth)),
               dim3(1), dim3(32), bad_width);
}

constexpr int kBadLane = __LINE__ + 3;
__global__ void bad_lane(int kind, int operand) {
  if (kind == 0) {
    __shfl_sync(0xffffffffu, 1, operand);
  } else if (kind == 1) {
    __shfl_up_sync(0xffffffffu, 1, static_cast<unsigned>(operand));
  } else if (kind == 2) {
    __shfl_down_sync(0xffffffffu, 1, static_cast<unsigned>(operand));
  } else {
    __shfl_xor_sync(0xffffffffu, 1, operand);
  }
}

TEST_F(DeviceFaults, OperandsOfShufflesAreLanes) {
  const char* const names[] = {"__shfl_sync", "__shfl_up_sync", "__shfl_down_sync",
                               "__shfl_xor_sync"};
  for (const int operand : {-1, 32}) {
    for (int kind = 0; kind < 4; ++kind) {
      reset();
      expect_fault(fmt::format("{} with mask 0xffffffff with the lane, delta or lane mask {}, not "
                               "one of 0 to 31: block (0,0,0), thread (0,0,0) at {}",
                               names[kind], operand, at(kBadLane + 2 * kind)),
                   dim3(1), dim3(32), bad_lane, kind, operand);
    }
  }
}

constexpr int kLarge = __LINE__ + 3;
__global__ void too_much_shared() {
  SHARED_ARRAY(float, fits, [12 * 1024]);
  SHARED_ARRAY(char, one_more, [1]);
  one_more[0] = fits[0] > 0.0f;
}

TEST_F(DeviceFaults, SharedArraysAreLimited) {
  expect_fault(
      fmt::format("49153 bytes of shared arrays, the limit is 49152: block (0,0,0), thread "
                  "(0,0,0) at {}",
                  at(kLarge)),
      dim3(1), dim3(1), too_much_shared);
}

constexpr int kBoth = __LINE__ + 3;
__global__ void shared_of_both_kinds(float* out) {
  DYNAMIC_SHARED(float, dynamic);
  SHARED_ARRAY(float, fixed, [256]);
  fixed[0] = dynamic[0] = 1.0f;
  *out = fixed[0] + dynamic[0];
}

TEST_F(DeviceFaults, ArraysAndDynamicSharedMemoryAreLimitedTogether) {
  const auto* const kernel = reinterpret_cast<const void*>(shared_of_both_kinds);
  constexpr std::size_t kArray = 1024;
  const auto limit = [&](std::size_t bytes) {
    CUDA_OK(cudaFuncSetAttribute(kernel, cudaFuncAttributeMaxDynamicSharedMemorySize,
                                 static_cast<int>(bytes)));
  };
  const auto fits = [](std::size_t dynamic) {
    EXPECT_EQ(2.0f, run(1, 1, shared_of_both_kinds, 1, 0.0f, dynamic)[0]) << dynamic;
  };
  const auto exceeds = [](std::size_t dynamic, std::size_t most) {
    EXPECT_EQ(cudaSuccess, cuda::launch(nullptr, 1, 1, dynamic, shared_of_both_kinds, nullptr));
    EXPECT_EQ(cudaErrorLaunchFailure, cudaDeviceSynchronize());
    EXPECT_EQ(
        fmt::format("1024 bytes of shared arrays beside {} of dynamic shared memory, the limit "
                    "is {}: block (0,0,0), thread (0,0,0) at {}",
                    dynamic, most, at(kBoth)),
        device_fault());
    reset();
  };
  fits(kSharedLimit - kArray);
  exceeds(kSharedLimit - kArray + 1, kSharedLimit);
  limit(64 * 1024);
  fits(64 * 1024);  // the arrays come on top
  EXPECT_EQ(cudaErrorInvalidValue,
            cuda::launch(nullptr, 1, 1, 64 * 1024 + 1, shared_of_both_kinds, nullptr));
  cudaGetLastError();
  limit(kSharedOptIn);
  fits(kSharedOptIn - kArray);
  exceeds(kSharedOptIn, kSharedOptIn);
}

__global__ void well_behaved(int* out) {
  SHARED_ARRAY(int, sum, [1]);
  if (threadIdx.x == 0) {
    sum[0] = 0;
  }
  __syncthreads();
  atomicAdd(&sum[0], 1);
  __syncthreads();
  if (threadIdx.x == 0) {
    *out = sum[0];
  }
}

TEST_F(DeviceFaults, NothingOfAFaultIsLeftForTheNextDevice) {
  for (int round = 0; round < 3; ++round) {
    EXPECT_EQ(cudaSuccess, cuda::launch(nullptr, 3, 64, 0, deadlock));
    EXPECT_EQ(cudaErrorLaunchFailure, cudaDeviceSynchronize());
    reset();
    EXPECT_EQ(64, run(1, 64, well_behaved, 1)[0]);
  }
}

__global__ void spin(int* flag) {
  if (threadIdx.x == 3) {
    while (*static_cast<volatile int*>(flag) == 0) {
    }
  } else if (threadIdx.x == 4) {
    *flag = 1;
  }
}

TEST_F(DeviceFaultsDeathTest, AKernelThatSpinsIsEnded) {
  GTEST_FLAG_SET(death_test_style, "threadsafe");
  set_watchdog(std::chrono::milliseconds(50));
  EXPECT_DEATH(run(dim3(2), dim3(8), spin, 1),
               "stepscope cudasim: a kernel ran for 50 ms of processor time without an end; block "
               "\\(0,0,0\\), thread \\(3,0,0\\) ran last");
  set_watchdog(std::chrono::seconds(30));
}

__global__ void spin_and_yield(int* flag) {
  if (threadIdx.x == 3) {
    while (*static_cast<volatile int*>(flag) == 0) {
      __syncwarp(1u << 3);
    }
  } else {
    __syncwarp(0xf7u);
  }
  __syncthreads();
  *flag = 1;
}

TEST_F(DeviceFaultsDeathTest, SoIsOneThatLetsTheOthersRun) {
  GTEST_FLAG_SET(death_test_style, "threadsafe");
  set_watchdog(std::chrono::milliseconds(50));
  EXPECT_DEATH(run(dim3(2), dim3(8), spin_and_yield, 1),
               "stepscope cudasim: a kernel ran for 50 ms of processor time without an end; block "
               "\\(0,0,0\\), thread \\(3,0,0\\) ran last");
  set_watchdog(std::chrono::seconds(30));
}

void run_without_a_timer() {
  rlimit none{};
  setrlimit(RLIMIT_SIGPENDING, &none);
  cuda::launch(nullptr, 1, 1, 0, spin_and_yield, nullptr);
  cudaDeviceSynchronize();
}

TEST_F(DeviceFaultsDeathTest, WithoutATimerNoKernelRuns) {
  GTEST_FLAG_SET(death_test_style, "threadsafe");
  EXPECT_DEATH(run_without_a_timer(),
               "stepscope cudasim: timer_create failed \\(.*\\): no watchdog "
               "could end a kernel that spins");
}

__global__ void use_dynamic_shared(int* out) {
  DYNAMIC_SHARED(int, nothing);
  if (blockIdx.x == 1 && threadIdx.x == 2) {
    nothing[*out] = 1;
  }
}

TEST_F(DeviceFaultsDeathTest, DynamicSharedMemoryThatWasNotAskedForEndsTheProgram) {
  GTEST_FLAG_SET(death_test_style, "threadsafe");
  for (const int index : {0, 1000, -1000}) {
    EXPECT_DEATH(run(dim3(2), dim3(8), use_dynamic_shared, 1, index),
                 "stepscope cudasim: block \\(1,0,0\\), thread \\(2,0,0\\) touched address 0x");
  }
}

// Fibers are ended by their thread's handler, which has a stack in each thread.
__device__ int descend(int depth) {
  volatile char frame[1024];
  frame[0] = static_cast<char>(depth);
  return depth == 0 ? frame[0] : descend(depth - 1) + frame[0];
}
__global__ void overflow(int* out) { *out = descend(400 + *out); }

TEST_F(DeviceFaultsDeathTest, AStackThatOverflowsInAnyThreadNamesTheKernelsThread) {
  GTEST_FLAG_SET(death_test_style, "threadsafe");
  EXPECT_DEATH(std::thread([] { run(dim3(1), dim3(2), overflow, 1); }).join(),
               "block \\(0,0,0\\), thread \\(0,0,0\\) touched address 0x");
}

#if defined(__SANITIZE_THREAD__)
// Blocks n and n + 3 write the same elements.
__global__ void write_by_column(int* out) {
  out[blockIdx.x % 3 * blockDim.x + threadIdx.x] = static_cast<int>(blockIdx.y);
}

TEST_F(DeviceFaultsDeathTest, BlocksThreeApartAreSeenToRace) {
  GTEST_FLAG_SET(death_test_style, "threadsafe");
  for (const dim3 grid : {dim3(3, 2), dim3(6, 2)}) {
    EXPECT_EXIT(
        {
          run(grid, dim3(4), write_by_column, 12);
          std::exit(0);
        },
        testing::ExitedWithCode(66), "WARNING: ThreadSanitizer: data race");
  }
}
#endif

TEST_F(DeviceFaults, AKernelThatWasNeverLaunchedByTypeIsUnknown) {
  cudaLaunchConfig_t config{};
  config.gridDim = config.blockDim = dim3(1);
  const auto* nothing = reinterpret_cast<const void*>(&at);
  expect_refused(cudaErrorInvalidDeviceFunction, cudaLaunchKernelExC(&config, nothing, nullptr));
  REGISTER_KERNEL(bad_width);
  EXPECT_NE(nullptr, signature_of(reinterpret_cast<const void*>(&bad_width)));
}

}  // namespace
}  // namespace stepscope::cudasim
