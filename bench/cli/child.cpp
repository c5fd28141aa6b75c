// Children: this program again, with its output dropped and signals handed on.
// SPDX-License-Identifier: Apache-2.0
#include "bench/cli/child.h"

#include <fcntl.h>
#include <poll.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <csignal>
#include <cstring>
#include <filesystem>

#include "bench/cli/progress.h"
#include "ops/base/check.h"

namespace stepscope::cli {
namespace {

// Keeps SIGINT and SIGTERM waiting, so that none comes between a look at the flag and the wait for
// what comes next.
class HeldSignals {
 public:
  HeldSignals() {
    sigset_t held;
    sigemptyset(&held);
    sigaddset(&held, SIGINT);
    sigaddset(&held, SIGTERM);
    ::sigprocmask(SIG_BLOCK, &held, &before_);
  }
  ~HeldSignals() { ::sigprocmask(SIG_SETMASK, &before_, nullptr); }
  HeldSignals(const HeldSignals&) = delete;
  HeldSignals& operator=(const HeldSignals&) = delete;
  const sigset_t& before() const { return before_; }

 private:
  sigset_t before_{};
};

// A pipe whose writing end a child inherits: it is closed when the child has ended.
class LifeLine {
 public:
  LifeLine() {
    check(::pipe(ends_) == 0, Fault::device, "compare: no pipe: {}", std::strerror(errno));
    ::fcntl(ends_[0], F_SETFD, FD_CLOEXEC);
  }
  ~LifeLine() {
    ::close(ends_[0]);
    let_go();
  }
  LifeLine(const LifeLine&) = delete;
  LifeLine& operator=(const LifeLine&) = delete;

  void let_go() {  // of the writing end
    if (ends_[1] >= 0) ::close(ends_[1]);
    ends_[1] = -1;
  }
  // Until the child has ended, or a signal came.
  void wait(const HeldSignals& signals, bool& ended) const {
    pollfd line{.fd = ends_[0], .events = POLLIN, .revents = 0};
    ended = ::ppoll(&line, 1, nullptr, &signals.before()) > 0;
  }

 private:
  int ends_[2] = {-1, -1};
};

// In the child. Whatever ends the parent ends it as well.
[[noreturn]] void become(const std::vector<char*>& argv, pid_t parent, const sigset_t& signals) {
  ::prctl(PR_SET_PDEATHSIG, SIGTERM);
  if (::getppid() != parent) ::_exit(127);  // it ended before
  ::sigprocmask(SIG_SETMASK, &signals, nullptr);
  const int null = ::open("/dev/null", O_WRONLY | O_CLOEXEC);
  ::dup2(null, STDOUT_FILENO);
  ::execv("/proc/self/exe", argv.data());
  ::_exit(127);
}

}  // namespace

ScratchFile::ScratchFile() {
  std::string pattern = (std::filesystem::temp_directory_path() / "stepscope-XXXXXX").string();
  const int descriptor = ::mkstemp(pattern.data());
  check(descriptor >= 0, Fault::io, "{}: cannot be made: {}", pattern, std::strerror(errno));
  ::close(descriptor);
  path_ = pattern;
}

ScratchFile::~ScratchFile() { ::unlink(path_.c_str()); }

int run_child(const std::vector<std::string>& arguments, const std::string& who) {
  std::vector<char*> argv;
  for (const std::string& argument : arguments) argv.push_back(const_cast<char*>(argument.c_str()));
  argv.push_back(nullptr);
  int status = 0;
  {
    const HeldSignals signals;
    LifeLine line;
    const pid_t parent = ::getpid();
    const pid_t child = ::fork();
    check(child >= 0, Fault::device, "compare: no process for {}: {}", who, std::strerror(errno));
    if (child == 0) become(argv, parent, signals.before());
    line.let_go();
    bool told = false;
    for (bool ended = false; !ended; line.wait(signals, ended)) {
      if (told || !is_interrupted()) continue;
      ::kill(child, SIGTERM);
      told = true;
    }
    while (::waitpid(child, &status, 0) < 0 && errno == EINTR) {
    }
  }
  stop_if_interrupted();
  check(WIFEXITED(status), Fault::device, "compare: {} ended by signal {}; nothing was written",
        who, WTERMSIG(status));
  return WEXITSTATUS(status);
}

}  // namespace stepscope::cli
