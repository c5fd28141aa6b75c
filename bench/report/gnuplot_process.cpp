// A child with its streams in files in memory.
// SPDX-License-Identifier: Apache-2.0
#include "bench/report/gnuplot_process.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <poll.h>
#include <spawn.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <csignal>
#include <cstdlib>
#include <cstring>

#include "ops/base/check.h"

namespace stepscope {
namespace {

constexpr int kLifeLine = 3;  // the child's end of it: closed when the child has ended
constexpr int kAbove = 10;    // ours lie above those that the child gets, whatever was closed here

class Descriptor {
 public:
  explicit Descriptor(int number) : number_(number) {
    check(number >= 0, Fault::device, "report: no file in memory for gnuplot: {}",
          std::strerror(errno));
  }
  ~Descriptor() { close(); }
  Descriptor(const Descriptor&) = delete;
  Descriptor& operator=(const Descriptor&) = delete;
  int number() const { return number_; }
  void close() {
    if (number_ >= 0) ::close(number_);
    number_ = -1;
  }

 private:
  int number_;
};

int above(int descriptor) {
  if (descriptor < 0) return descriptor;
  const int high = ::fcntl(descriptor, F_DUPFD_CLOEXEC, kAbove);
  ::close(descriptor);
  return high;
}

int memory_file() { return above(::memfd_create("stepscope", MFD_CLOEXEC)); }

bool write_all(int descriptor, std::string_view text) {
  while (!text.empty()) {
    const ssize_t written = ::write(descriptor, text.data(), text.size());
    if (written < 0 && errno == EINTR) continue;
    if (written <= 0) return false;
    text.remove_prefix(static_cast<std::size_t>(written));
  }
  return ::lseek(descriptor, 0, SEEK_SET) == 0;
}

std::string read_all(int descriptor) {
  struct stat file {};
  if (::fstat(descriptor, &file) != 0 || file.st_size <= 0) return {};
  std::string text(static_cast<std::size_t>(file.st_size), '\0');
  std::size_t done = 0;
  while (done < text.size()) {
    const ssize_t got =
        ::pread(descriptor, text.data() + done, text.size() - done, static_cast<off_t>(done));
    if (got < 0 && errno == EINTR) continue;
    if (got <= 0) break;
    done += static_cast<std::size_t>(got);
  }
  text.resize(done);
  return text;
}

// As ours, but for what would make gnuplot speak another language or open a window.
std::vector<std::string> environment() {
  std::vector<std::string> kept = {"LC_ALL=C", "GNUTERM=svg"};
  for (char** each = environ; *each != nullptr; ++each) {
    const std::string_view line = *each;
    if (!line.starts_with("LC_ALL=") && !line.starts_with("GNUTERM=") &&
        !line.starts_with("DISPLAY=")) {
      kept.emplace_back(line);
    }
  }
  return kept;
}

std::vector<char*> pointers(const std::vector<std::string>& lines) {
  std::vector<char*> list;
  for (const std::string& line : lines) list.push_back(const_cast<char*>(line.c_str()));
  list.push_back(nullptr);
  return list;
}

// 0, or why it did not start.
int spawn(pid_t& child, const std::vector<std::string>& command, const int (&streams)[3],
          int life_line) {
  posix_spawn_file_actions_t actions;
  posix_spawn_file_actions_init(&actions);
  for (int i = 0; i < 3; ++i) posix_spawn_file_actions_adddup2(&actions, streams[i], i);
  posix_spawn_file_actions_adddup2(&actions, life_line, kLifeLine);
  const std::vector<std::string> lines = environment();
  const int failed = ::posix_spawn(&child, command.front().c_str(), &actions, nullptr,
                                   pointers(command).data(), pointers(lines).data());
  posix_spawn_file_actions_destroy(&actions);
  return failed;
}

// Until the child has closed its end; false when that took too long.
bool wait_for(int life_line, int timeout_ms) {
  using Clock = std::chrono::steady_clock;
  const auto end = Clock::now() + std::chrono::milliseconds(timeout_ms);
  for (;;) {
    const auto left =
        std::chrono::duration_cast<std::chrono::milliseconds>(end - Clock::now()).count();
    pollfd line{.fd = life_line, .events = POLLIN, .revents = 0};
    const int ready = ::poll(&line, 1, static_cast<int>(std::max<std::int64_t>(0, left)));
    if (ready > 0) return true;
    if (ready == 0 || errno != EINTR) return false;
  }
}

}  // namespace

std::string find_program(std::string_view name) {
  const char* const path = std::getenv("PATH");
  std::string_view left = path == nullptr ? "/usr/bin:/bin" : path;
  while (!left.empty()) {
    const std::size_t colon = std::min(left.find(':'), left.size());
    const std::string_view folder = left.substr(0, colon);
    left.remove_prefix(std::min(colon + 1, left.size()));
    if (folder.empty() || folder.front() != '/') continue;  // never from the working folder
    const std::string file = fmt::format("{}/{}", folder, name);
    struct stat found {};
    if (::stat(file.c_str(), &found) == 0 && S_ISREG(found.st_mode) &&
        ::access(file.c_str(), X_OK) == 0) {
      return file;
    }
  }
  return {};
}

ProcessResult run_process(const std::vector<std::string>& command, std::string_view input,
                          int timeout_ms) {
  const Descriptor in(memory_file()), out(memory_file()), err(memory_file());
  int ends[2] = {-1, -1};
  check(::pipe2(ends, O_CLOEXEC) == 0, Fault::device, "report: no pipe for gnuplot: {}",
        std::strerror(errno));
  const Descriptor ours(above(ends[0]));
  Descriptor theirs(above(ends[1]));
  ProcessResult result;
  check(write_all(in.number(), input), Fault::io, "report: a script of {} bytes was not stored: {}",
        input.size(), std::strerror(errno));
  pid_t child = -1;
  const int failed =
      spawn(child, command, {in.number(), out.number(), err.number()}, theirs.number());
  if (failed != 0) {
    result.err = std::strerror(failed);
    return result;
  }
  theirs.close();
  result.timed_out = !wait_for(ours.number(), timeout_ms);
  if (result.timed_out) ::kill(child, SIGKILL);
  int status = 0;
  while (::waitpid(child, &status, 0) < 0 && errno == EINTR) {
  }
  if (WIFEXITED(status)) result.status = WEXITSTATUS(status);
  if (WIFSIGNALED(status)) result.signal = WTERMSIG(status);
  result.out = read_all(out.number());
  result.err = read_all(err.number());
  return result;
}

}  // namespace stepscope
