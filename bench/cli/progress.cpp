// The progress line and the signal flag.
// SPDX-License-Identifier: Apache-2.0
#include "bench/cli/progress.h"

#include <fmt/format.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <cmath>
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

// What continues a character of UTF-8 takes no place.
bool begins_one(char c) { return (static_cast<unsigned char>(c) & 0xC0U) != 0x80U; }

std::size_t width_of(const std::string& text) {
  return static_cast<std::size_t>(std::count_if(text.begin(), text.end(), begins_one));
}

// At most so many characters of it.
std::string cut(const std::string& text, std::size_t most) {
  std::size_t seen = 0;
  const auto end = std::find_if(text.begin(), text.end(),
                                [&](char c) { return begins_one(c) && ++seen > most; });
  return {text.begin(), end};
}

// Of the terminal; 0: not known.
std::size_t terminal_columns() {
  winsize size{};
  return ::ioctl(STDERR_FILENO, TIOCGWINSZ, &size) == 0 ? size.ws_col : 0;
}

}  // namespace

std::string progress_line(double done, const std::string& what, const std::string& left,
                          std::size_t columns) {
  constexpr int kBar = 24;  // characters
  const int filled = static_cast<int>(done * kBar);
  const std::string bar =
      fmt::format("[{:#<{}}{:.<{}}] {:3.0f} %  ", "", filled, "", kBar - filled, 100.0 * done);
  if (columns == 0) return bar + what + left;
  const std::size_t most = columns - 1;  // in the last one a terminal may begin a new line
  const std::size_t around = width_of(bar) + width_of(left);
  return cut(bar + cut(what, around < most ? most - around : 0) + left, most);
}

std::optional<double> planned_left(const RunShare& share, double elapsed_s) {
  if (!share.left_s || *share.left_s <= elapsed_s) return std::nullopt;
  return *share.left_s - elapsed_s;
}

std::optional<double> seconds_left(double elapsed_s, double first, double done) {
  constexpr double kLeastShare = 0.01;
  constexpr double kLeastSeconds = 1.0;
  if (done - first < kLeastShare || elapsed_s < kLeastSeconds) return std::nullopt;
  return elapsed_s / (done - first) * (1.0 - done);
}

std::string time_left(double seconds) {
  constexpr std::int64_t kMinute = 60, kHour = 60 * kMinute;
  constexpr double kMost = 1e9;  // thirty years
  if (!(seconds > 0.0)) return "";
  const auto whole = static_cast<std::int64_t>(std::ceil(std::min(seconds, kMost)));
  if (whole <= 10) return fmt::format("about {} s left", whole);
  if (whole < 2 * kMinute) return fmt::format("about {} s left", (whole + 4) / 5 * 5);
  const std::int64_t minutes = (whole + kMinute / 2) / kMinute;
  if (whole < 2 * kHour) return fmt::format("about {} min left", minutes);
  return fmt::format("about {} h {} min left", minutes / 60, minutes % 60);
}

ProgressLine::ProgressLine(Show show, const RunShare& share)
    : visible_(show == Show::on_terminal && ::isatty(STDERR_FILENO) == 1),
      share_(share),
      share_begun_(now()) {}

ProgressLine::~ProgressLine() { clear(); }

void ProgressLine::update(const std::string& what, double done) {
  stop_if_interrupted();
  show(what, done);
}

bool ProgressLine::is_due() const {
  return visible_ && (width_ == 0 || now() - shown_ >= kBetweenLines);
}

std::string ProgressLine::left_text(double done) {
  std::optional<double> left;
  const auto since = [&](Stamp then) {
    return std::chrono::duration<double>(shown_ - then).count();
  };
  if (share_.left_s) {
    left = planned_left(share_, since(share_begun_));
  } else {
    left = seconds_left(since(*begun_), first_, done);
  }
  const std::string text = left ? time_left(*left) : "";
  return text.empty() ? "" : fmt::format(", {}", text);
}

void ProgressLine::show(const std::string& what, double part) {
  if (!is_due()) return;
  shown_ = now();
  const double done = std::clamp(share_.from + (share_.to - share_.from) * part, 0.0, 1.0);
  if (!begun_) begun_ = shown_, first_ = done;
  const std::size_t columns = terminal_columns();
  std::string line = progress_line(done, what, left_text(done), columns);
  const std::size_t length = width_of(line);
  const std::size_t before = columns == 0 ? width_ : std::min(width_, columns - 1);
  if (length < before) line.append(before - length, ' ');
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
