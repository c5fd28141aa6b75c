// Watchdog: ends the program when a kernel takes too much processor time, and says who ran. A
// device thread that spins on what another should store would wait for ever: nothing preempts it.
// SPDX-License-Identifier: Apache-2.0
#include <cerrno>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <ctime>

#include <unistd.h>

#include "backends/cuda/sim/call.h"
#include "backends/cuda/sim/running_block.h"

namespace stepscope::cudasim {
namespace {

// One that ThreadSanitizer takes for a fault: others it keeps back until the program calls
// something, which a kernel that spins never does.
constexpr int kSignal = SIGSYS;
constexpr std::chrono::milliseconds kLimit{30'000};

struct Timer {
  timer_t id{};
  pid_t owner = 0;  // timers are not inherited by a child
  std::chrono::milliseconds limit = kLimit;
};
Timer& timer() {
  static Timer& timer = *new Timer;
  return timer;
}

extern "C" void stepscope_cudasim_watchdog(int) {
  const RunningBlock& block = running_block();
  const dim3& size = block.call->block;
  const unsigned thread = block.running;
  char line[256];
  const int length = std::snprintf(
      line, sizeof line,
      "stepscope cudasim: a kernel ran for %lld ms of processor time without an end; block "
      "(%u,%u,%u), thread (%u,%u,%u) ran last\n",
      static_cast<long long>(timer().limit.count()), block.index.x, block.index.y, block.index.z,
      thread % size.x, thread / size.x % size.y, thread / size.x / size.y);
  if (length > 0) {
    [[maybe_unused]] const auto written = write(2, line, static_cast<std::size_t>(length));
  }
  std::abort();
}

[[noreturn]] void die_without(const char* call) {
  std::fprintf(stderr,
               "stepscope cudasim: %s failed (%s): no watchdog could end a kernel that spins\n",
               call, std::strerror(errno));
  std::abort();
}

void make_timer() {
  struct sigaction action {};
  action.sa_handler = &stepscope_cudasim_watchdog;
  sigaction(kSignal, &action, nullptr);
  sigevent event{};
  event.sigev_notify = SIGEV_SIGNAL;
  event.sigev_signo = kSignal;
  if (timer_create(CLOCK_PROCESS_CPUTIME_ID, &event, &timer().id) != 0) {
    die_without("timer_create");
  }
  timer().owner = getpid();
}

void arm(std::chrono::milliseconds after) {
  itimerspec when{};
  when.it_value.tv_sec = after.count() / 1000;
  when.it_value.tv_nsec = after.count() % 1000 * 1'000'000;
  if (timer_settime(timer().id, 0, &when, nullptr) != 0) {
    die_without("timer_settime");
  }
}

}  // namespace

void set_watchdog(std::chrono::milliseconds limit) {
  const std::lock_guard lock(state_lock());
  timer().limit = limit;
}

void reset_watchdog() { timer().limit = kLimit; }

Watchdog::Watchdog() {
  if (timer().owner != getpid()) {
    make_timer();
  }
  arm(timer().limit);
}

Watchdog::~Watchdog() { arm(std::chrono::milliseconds(0)); }

}  // namespace stepscope::cudasim
