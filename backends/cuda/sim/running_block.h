// Running block: what the executor knows of the one block that runs, shared by its parts: the
// scheduler (executor.cpp), barriers, warp collectives, shared memory and faults.
//
// Plain arrays, and no allocation on a device thread: ThreadSanitizer sees malloc and memcpy of
// uninstrumented code too, and would take them for the kernel's.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cstdint>
#include <optional>

#include "backends/cuda/sim/device_calls.h"
#include "backends/cuda/sim/executor.h"
#include "backends/cuda/sim/fiber.h"

namespace stepscope::cudasim {

using device::Collective;
using device::Offer;
using device::Site;

enum class ThreadState : std::uint8_t { fresh, running, ready, at_barrier, at_collective, exited };

enum class FaultKind : std::uint8_t {
  divergent_barrier,    // `thread` and `other` wait in different lines
  mask_without_caller,  // of `thread`
  masks_differ,         // `thread` and `other` name each other under different masks
  collectives_differ,   // `thread` and `other` meet under one mask in different functions
  lane_takes_no_part,   // `thread` reads lane `number`
  bad_width,            // `number`
  bad_operand,          // `number`
  shared_limit,         // `number` bytes of shared arrays and dynamic shared memory
  shared_count,         // `number` shared arrays
  deadlock,             // `thread` waits
};

struct PendingFault {
  FaultKind kind;
  unsigned thread;
  Site site;
  unsigned other = 0;
  Site other_site{};
  std::uint64_t number = 0;
};

// Lanes that meet under one mask.
struct Meeting {
  unsigned mask = 0;
  unsigned arrived = 0;
  void* order = nullptr;  // ThreadSanitizer's object; null where the meeting orders no memory
};

struct Warp {
  unsigned alive = 0;  // lanes that have not exited
  unsigned count = 0;  // of meetings
  std::array<Meeting, kWarpSize> meetings;
};

// Where a thread waits, what for, and what it gets.
struct Waiting {
  Fiber* fiber = nullptr;
  Site site;
  Offer offer{};
  std::uint64_t result = 0;
  void* order = nullptr;  // acquired when it goes on
};

struct RunningBlock {
  const KernelCall* call = nullptr;
  std::array<void*, kMostParameterBytes / 4> arguments{};

  uint3 index{};
  unsigned threads = 0;  // of the block
  unsigned next = 0;     // how many have begun
  unsigned alive = 0;    // not exited
  unsigned running = 0;  // the thread that runs; meaningless between threads
  unsigned at_barrier = 0;
  unsigned first_at_barrier = 0;
  void* barrier_order = nullptr;
  void* begin_order = nullptr;  // acquired by each thread first
  void* fence_order = nullptr;  // of __threadfence_block
  std::optional<PendingFault> fault;

  std::array<std::uint16_t, kMostThreads> order;
  std::array<ThreadState, kMostThreads> states;
  std::array<Waiting, kMostThreads> waiting;
  std::array<Warp, kMostThreads / kWarpSize> warps;
};

RunningBlock& running_block();

// From a device thread: back to the scheduler, until the state says `ready`.
void wait_here();
// From a device thread; the block ends.
[[noreturn]] void raise(const PendingFault& fault);

// A thread has gone: what waited for it may go on.
void complete_barrier();
void complete_meetings(unsigned warp);

// "block (0,0,0), thread (3,0,0)"
std::string coordinates(unsigned thread);
DeviceFault fault_of(const PendingFault& fault);
PendingFault deadlock();  // of the running block, none of whose threads can go on
const char* name_of(Collective kind);

// A new object for release() and acquire(); null without ThreadSanitizer. They are many and short
// lived: forgotten together, between blocks, when most are used.
void* make_order();
void renew_orders();

// Shared memory. begin and end from the scheduler. `limit`: bytes of all of it.
void begin_shared(std::size_t dynamic_bytes, std::size_t limit);
std::size_t shared_limit();  // of the running block
void end_shared();

// Ends the program when one kernel takes too long: device threads are not preempted.
class Watchdog {
 public:
  Watchdog();  // armed
  ~Watchdog();
  Watchdog(const Watchdog&) = delete;
  Watchdog& operator=(const Watchdog&) = delete;
};

}  // namespace stepscope::cudasim
