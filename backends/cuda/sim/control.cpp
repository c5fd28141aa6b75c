// control: the knobs, handed to those who hold what they turn.
// SPDX-License-Identifier: Apache-2.0
#include "backends/cuda/sim/control.h"

#include <fmt/format.h>

#include <stdexcept>

#include "backends/cuda/sim/call.h"
#include "backends/cuda/sim/call_state.h"
#include "backends/cuda/sim/capture.h"
#include "backends/cuda/sim/clock.h"
#include "backends/cuda/sim/executor.h"
#include "backends/cuda/sim/graph.h"
#include "backends/cuda/sim/library.h"
#include "backends/cuda/sim/lint.h"
#include "backends/cuda/sim/memory.h"
#include "backends/cuda/sim/requests.h"
#include "backends/cuda/sim/schedule.h"

namespace stepscope::cudasim {
namespace {

CallId known_call(std::string_view name, std::string_view knob) {
  if (const auto id = call_named(name)) return *id;
  throw std::invalid_argument(fmt::format("{}: the simulator has no call {}", knob, name));
}

}  // namespace

void reset(const Settings& settings) {
  const std::lock_guard lock(state_lock());
  reset_schedule(settings);  // first: nothing runs any more
  reset_captures();
  reset_graphs();
  reset_libraries();
  reset_streams();
  reset_requests();
  reset_memory(settings.device_bytes);
  reset_clock(settings.costs);
  reset_lints();
  reset_watchdog();
  reset_calls(settings.driver);
}

void set_schedule(Schedule schedule) {
  const std::lock_guard lock(state_lock());
  change_schedule(schedule);
}

void set_orders(Order blocks, Order threads) {
  const std::lock_guard lock(state_lock());
  change_orders(blocks, threads);
}

std::int64_t host_now_ns() {
  const std::lock_guard lock(state_lock());
  return host_clock();
}

void advance_host(std::int64_t ns) {
  const std::lock_guard lock(state_lock());
  move_host(ns);
}

void fail_call(std::string_view name, int code, int nth) {
  const std::lock_guard lock(state_lock());
  if (nth < 1) throw std::invalid_argument(fmt::format("fail_call: nth is {}, at least 1", nth));
  inject(known_call(name, "fail_call"), code, nth);
}

void fault_kernel(int code, int nth) {
  const std::lock_guard lock(state_lock());
  const bool faults = code == cudaErrorIllegalAddress || code == cudaErrorAssert ||
                      code == cudaErrorMisalignedAddress || code == cudaErrorLaunchFailure;
  if (!faults || nth < 1) {
    throw std::invalid_argument(
        fmt::format("fault_kernel: code {}, nth {}; a kernel ends in 700, 710, 716 or 719, and "
                    "the next one is 1",
                    code, nth));
  }
  plan_kernel_fault(static_cast<cudaError_t>(code), nth);
}

std::string device_fault() {
  const std::lock_guard lock(state_lock());
  return fault_text();
}

std::uint64_t calls_of(std::string_view name) {
  const std::lock_guard lock(state_lock());
  return times_made(known_call(name, "calls_of"));
}

Totals totals() {
  const std::lock_guard lock(state_lock());
  Totals all = counted();
  all.waiting = waiting_tasks();
  all.device_bytes = device_bytes_in_use();
  all.pinned_bytes = pinned_bytes_in_use();
  return all;
}

}  // namespace stepscope::cudasim
