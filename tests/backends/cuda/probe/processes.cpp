// Processes: started by posix_spawn, never forked, since a process that has used CUDA must not be.
// SPDX-License-Identifier: Apache-2.0
#include "tests/backends/cuda/probe/processes.h"

#include <fmt/format.h>
#include <signal.h>
#include <spawn.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <thread>

extern char** environ;

namespace stepscope::probe {
namespace {

using Clock = std::chrono::steady_clock;

// Whether the process has ended by then; fills `status` as waitpid does.
bool ended_by(pid_t process, Clock::time_point end, int& status) {
  for (;;) {
    const pid_t result = waitpid(process, &status, WNOHANG);
    if (result == process || (result < 0 && errno != EINTR)) {
      return true;
    }
    if (Clock::now() >= end) {
      return false;
    }
    std::this_thread::sleep_for(std::chrono::milliseconds(2));
  }
}

}  // namespace

Ended run_part(std::string_view part, std::chrono::seconds limit) {
  char program[] = "/proc/self/exe", flag[] = "--rule";
  std::string name(part);
  char* arguments[] = {program, flag, name.data(), nullptr};
  pid_t process = 0;
  Ended ended;
  if (posix_spawn(&process, program, nullptr, nullptr, arguments, environ) != 0) {
    ended.started = false;
    return ended;
  }
  int status = 0;
  if (!ended_by(process, Clock::now() + limit, status)) {
    kill(process, SIGKILL);
    waitpid(process, &status, 0);
    ended.timed_out = true;
    return ended;
  }
  ended.status = WIFEXITED(status) ? WEXITSTATUS(status) : 0;
  ended.signal = WIFSIGNALED(status) ? WTERMSIG(status) : 0;
  return ended;
}

std::string describe(const Ended& ended, std::chrono::seconds limit) {
  if (!ended.started) {
    return "could not be started";
  }
  if (ended.timed_out) {
    return fmt::format("did not end in {} s and was stopped", limit.count());
  }
  if (ended.signal != 0) {
    return fmt::format("ended by signal {} ({})", ended.signal, strsignal(ended.signal));
  }
  return fmt::format("ended with status {}", ended.status);
}

}  // namespace stepscope::probe
