// The progress line and the signal flag.
// SPDX-License-Identifier: Apache-2.0
#include "bench/cli/progress.h"

#include <fmt/format.h>
#include <unistd.h>

#include <chrono>
#include <csignal>
#include <cstdio>

namespace stepscope::cli {
namespace {

constexpr std::chrono::milliseconds kBetweenLines{100};

volatile std::sig_atomic_t interrupted = 0;

void on_signal(int signal) {
  interrupted = 1;
  std::signal(signal, SIG_DFL);
}

}  // namespace

ProgressLine::ProgressLine(Show show)
    : visible_(show == Show::on_terminal && ::isatty(STDERR_FILENO) == 1) {}

ProgressLine::~ProgressLine() { clear(); }

void ProgressLine::update(const std::string& what, double done) {
  stop_if_interrupted();
  show(what, done);
}

bool ProgressLine::is_due() const {
  return visible_ && (width_ == 0 || now() - shown_ >= kBetweenLines);
}

void ProgressLine::show(const std::string& what, double done) {
  if (!is_due()) return;
  shown_ = now();
  constexpr int kBar = 24;  // characters
  const int filled = static_cast<int>(done * kBar);
  std::string line = fmt::format("[{:#<{}}{:.<{}}] {:3.0f} %  {}", "", filled, "", kBar - filled,
                                 100.0 * done, what);
  const std::size_t length = line.size();
  if (length < width_) line.append(width_ - length, ' ');
  width_ = length;
  std::fprintf(stderr, "\r%s", line.c_str());
  std::fflush(stderr);
}

void ProgressLine::clear() {
  if (width_ == 0) return;
  std::fprintf(stderr, "\r%s\r", std::string(width_, ' ').c_str());
  std::fflush(stderr);
  width_ = 0;
}

void note_interrupts() {
  std::signal(SIGINT, on_signal);
  std::signal(SIGTERM, on_signal);
  std::signal(SIGXFSZ, SIG_IGN);  // a file over the limit fails with a message, as on a full disk
}

bool is_interrupted() { return interrupted != 0; }

void stop_if_interrupted() {
  if (is_interrupted()) throw Interrupted();
}

}  // namespace stepscope::cli
