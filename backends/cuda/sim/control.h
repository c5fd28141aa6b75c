// Control: the knobs that tests of CUDA code turn. The code under test includes nothing of it.
//
// One simulated device with one driver. State is the process's: reset() before each test. All knobs
// may be turned at any time from the thread that tests; none of them is a CUDA call.
//
// Calls of all threads take one lock, and work runs under it, host functions and callbacks too: one
// that waits for another thread which calls CUDA waits for ever.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace stepscope::cudasim {

enum class Schedule : std::uint8_t {
  lazy,    // work runs only when something waits for it, and only what that wait depends on
  eager,   // work runs when it is submitted
  seeded,  // at each call a random part of what could run does, in a random legal order
  // What a wait does not depend on runs first, the newest before the others, then what it waits
  // for. Where a wait is missing, what should have run before is late under lazy, and what should
  // have run after is early here: a test that is to find missing waits runs under both.
  others_first,
};

// In which order the blocks of a grid, and the threads of a block, are run.
enum class Order : std::uint8_t { ascending, descending, seeded };

// The driverless machines of docs/cuda-simulator.md. What calls answer was measured for none and
// stub; it is assumed for old and no_device.
enum class Driver : std::uint8_t {
  present,
  none,       // no driver library: 35, and a driver version of 0
  old,        // a driver older than the runtime: 35, and the driver's own version (12.8)
  stub,       // the toolkit's stub library: 34
  no_device,  // a driver without a device: 100
};

// Virtual nanoseconds; what a call costs the host, and what work costs the device.
struct Costs {
  std::int64_t any_call = 100;             // every call, beside what follows
  std::int64_t launch_kernel = 2'000;      // host, of one kernel, copy, fill or host function
  std::int64_t launch_graph = 2'500;       // host, of one graph
  std::int64_t launch_per_node = 1;        // host, added to it
  std::int64_t kernel = 1'500;             // device, of one kernel
  std::int64_t kernel_per_thread_ps = 20;  // picoseconds, added to it
  std::int64_t node = 600;                 // device, added to each node of a graph
  std::int64_t copy = 1'000;               // device, of one copy or fill
  std::int64_t copy_per_byte_ps = 40;
  bool one_device = false;  // true: work of all streams runs one after the other
};
// Plausible costs that no test can have learned by heart.
Costs drawn_costs(std::uint64_t seed);

struct Settings {
  Schedule schedule = Schedule::lazy;
  Order blocks = Order::ascending;
  Order threads = Order::ascending;
  std::uint64_t seed = 1;  // of whatever is seeded
  Costs costs;
  Driver driver = Driver::present;
  std::size_t device_bytes = std::size_t{1} << 30;
};

// Forgets everything: handles and memory of before are invalid, errors and lints gone. Work that
// was not waited for never runs. Kernels stay registered. The watchdog has its first limit again.
void reset(const Settings& settings = {});
// For the rest of the test; what was submitted keeps its virtual times.
void set_schedule(Schedule schedule);
void set_orders(Order blocks, Order threads);

// --- the virtual clock ---------------------------------------------------------------------------

std::int64_t host_now_ns();          // moved by calls alone
void advance_host(std::int64_t ns);  // the host computes for a while

// --- faults --------------------------------------------------------------------------------------

// The nth call of `name` from now (1: the next) does nothing but return `code`, cast to its own
// status type. A code of fault_kernel() from a call of the runtime is the device's fault, and
// sticks. Throws std::invalid_argument for a call that the simulator does not have.
void fail_call(std::string_view name, int code, int nth = 1);
// The nth kernel that runs from now (1: the next) ends in a device fault: cudaErrorIllegalAddress
// (700), cudaErrorAssert (710), cudaErrorMisalignedAddress (716) or cudaErrorLaunchFailure (719).
void fault_kernel(int code, int nth = 1);
// Ends the program when one kernel takes more processor time than this (30 s unless set, until
// reset()): a device thread that spins is not preempted.
void set_watchdog(std::chrono::milliseconds limit);
// What the device's fault was: file, line, block, thread as far as they are known; empty: none.
std::string device_fault();
// Why the last capture became invalid: which call, stream or event; empty: none has, since reset().
std::string capture_fault();

// --- what happened -------------------------------------------------------------------------------

std::uint64_t calls_of(std::string_view name);  // since reset(); throws as fail_call does
struct Totals {                                 // since reset(), when it ran
  std::uint64_t kernels = 0, library_calls = 0, copies = 0, fills = 0, host_calls = 0;
  std::uint64_t graph_launches = 0, nodes = 0;     // nodes: run by graph launches
  std::uint64_t waiting = 0;                       // submitted, not run yet
  std::size_t device_bytes = 0, pinned_bytes = 0;  // allocated now
};
Totals totals();

// --- lints: what CUDA lets pass and a test must not ----------------------------------------------

enum class Lint : std::uint8_t {
  pageable_async,        // asynchronous copy from or to pageable memory
  pageable_captured,     // the same in a capture: its address is baked in
  unchecked_error,       // an error was returned, and cudaGetLastError never collected it
  first_use_in_capture,  // a kernel or a library's problem that never ran outside a capture
  leak,                  // stream, event, graph, executable, memory, handle or descriptor left
  freed_before_exec,     // memory whose address an executable graph holds was freed before it
};
std::string_view name_of(Lint lint);

struct LintFound {
  Lint lint;
  std::string text;  // one line: what, which call, which numbers
};
// So far; leaks and unchecked errors are judged by finish().
std::vector<LintFound> lints();
// All lints, were this the end. Call it when the code under test has destroyed what it made.
std::vector<LintFound> finish();

}  // namespace stepscope::cudasim
