// device_range: one reserved stretch of address space, opened by mprotect and guarded by a handler
// of SIGSEGV that says in one line who touched what.
// SPDX-License-Identifier: Apache-2.0
#include "backends/cuda/sim/device_range.h"

#include <fmt/format.h>
#include <signal.h>
#include <sys/mman.h>
#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <memory>
#include <string>

#include "backends/cuda/sim/call.h"
#include "backends/cuda/sim/executor.h"
#include "backends/cuda/sim/memory.h"
#include "backends/cuda/sim/sanitizers.h"

namespace stepscope::cudasim {
namespace {

// Address space alone: freed addresses are not used again, so it must outlast a test's allocations.
constexpr std::size_t kRange = std::size_t{64} << 30;
constexpr std::size_t kAlignment = 256;  // as cudaMalloc promises
constexpr std::size_t kPage = 4096;
constexpr int kGapByte = 0xFF;

constexpr std::size_t rounded_up(std::size_t bytes, std::size_t to) {
  return (bytes + to - 1) / to * to;
}

struct Range {
  std::byte* begin = nullptr;
  std::size_t taken = kAlignment;  // the next block's offset; a gap stands before the first
  int open = 0;                    // DeviceOpen alive
};

struct sigaction& previous_handler() {
  static struct sigaction previous;
  return previous;
}

[[noreturn]] void die(const std::string& line) {
  // A signal handler: no stream of the C++ library.
  [[maybe_unused]] const auto written = write(STDERR_FILENO, line.data(), line.size());
  std::abort();
}

std::string description(const void* address) {
  // Another thread may hold the lock, and this one will not come back to wait for it.
  const std::unique_lock lock(state_lock(), std::try_to_lock);
  return lock.owns_lock() ? describe(address) : fmt::format("device memory {}", address);
}

void on_segv(int signal, siginfo_t* info, void* context) {
  if (in_device_range(info->si_addr)) {
    if (in_kernel()) {
      die(fmt::format("stepscope cudasim: {} touched {}, where no block is\n", running_thread(),
                      description(info->si_addr)));
    }
    die(fmt::format("stepscope cudasim: host code touched {}; copy it with cudaMemcpyAsync first\n",
                    description(info->si_addr)));
  }
  if (in_kernel()) {
    const std::string line =
        fmt::format("stepscope cudasim: {} touched address {}\n", running_thread(), info->si_addr);
    [[maybe_unused]] const auto written = write(STDERR_FILENO, line.data(), line.size());
  }
  const struct sigaction& previous = previous_handler();
  if ((previous.sa_flags & SA_SIGINFO) != 0) {
    previous.sa_sigaction(signal, info, context);
  } else if (previous.sa_handler != SIG_DFL && previous.sa_handler != SIG_IGN) {
    previous.sa_handler(signal);
  } else {
    ::signal(SIGSEGV, SIG_DFL);  // the access is made again, and ends the program
  }
}

// The calling thread's, unless it has one already: a sanitizer may have given it.
class HandlerStack {
 public:
  HandlerStack() {
    stack_t present{};
    if (sigaltstack(nullptr, &present) != 0 || (present.ss_flags & SS_DISABLE) == 0) return;
    memory_ = std::make_unique<std::byte[]>(kBytes);
    stack_t stack{};
    stack.ss_sp = memory_.get();
    stack.ss_size = kBytes;
    sigaltstack(&stack, nullptr);
  }
  ~HandlerStack() {
    if (memory_ == nullptr) return;
    stack_t none{};
    none.ss_flags = SS_DISABLE;
    sigaltstack(&none, nullptr);
  }
  HandlerStack(const HandlerStack&) = delete;
  HandlerStack& operator=(const HandlerStack&) = delete;

 private:
  static constexpr std::size_t kBytes = 64 * 1024;
  std::unique_ptr<std::byte[]> memory_;
};

void install_handler() {
  struct sigaction action {};
  action.sa_sigaction = on_segv;
  action.sa_flags = SA_SIGINFO | SA_ONSTACK;
  sigemptyset(&action.sa_mask);
  sigaction(SIGSEGV, &action, &previous_handler());
}

Range& range() {
  static Range& state = *[] {
    auto* made = new Range;
    void* begin =
        mmap(nullptr, kRange, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (begin == MAP_FAILED) {
      die(fmt::format("stepscope cudasim: no {} bytes of address space for device memory\n",
                      kRange));
    }
    made->begin = static_cast<std::byte*>(begin);
    install_handler();
    return made;
  }();
  return state;
}

void protect(std::byte* data, std::size_t bytes, int protection) {
  const std::size_t first = static_cast<std::size_t>(data - range().begin) / kPage * kPage;
  const std::size_t end = rounded_up(static_cast<std::size_t>(data - range().begin) + bytes, kPage);
  if (mprotect(range().begin + first, end - first, protection) != 0) {
    die(fmt::format("stepscope cudasim: mprotect of {} bytes of device memory failed\n", bytes));
  }
}

}  // namespace

bool in_device_range(const void* address) {
  const auto* at = static_cast<const std::byte*>(address);
  return at >= range().begin && at < range().begin + kRange;
}

void give_handler_a_stack() { static thread_local const HandlerStack stack; }

bool was_taken(const void* address) {
  const auto* at = static_cast<const std::byte*>(address);
  return at >= range().begin && at < range().begin + range().taken;
}

std::size_t gap_behind(std::size_t bytes) {
  return rounded_up(bytes, kAlignment) + kAlignment - bytes;
}

std::span<const std::byte> first_gap() {
  const bool any = range().taken != kAlignment;
  return {range().begin, any ? kAlignment : 0};
}

std::byte* take_device_range(std::size_t bytes) {
  Range& all = range();
  if (bytes > kRange - all.taken || kRange - all.taken - bytes < 2 * kAlignment + kPage) {
    return nullptr;
  }
  std::byte* data = all.begin + all.taken;
  // The gap is what an index beyond the block meets first: NaN to read, a report to ASan.
  const std::size_t gap = gap_behind(bytes);
  fill_device(data + bytes, kGapByte, gap);
  poison(data + bytes, gap);
  if (data == all.begin + kAlignment) {
    fill_device(all.begin, kGapByte, kAlignment);
    poison(all.begin, kAlignment);
  }
  all.taken += bytes + gap;
  return data;
}

void fill_device(std::byte* data, int value, std::size_t bytes) {
  if (bytes == 0) return;
  protect(data, bytes, PROT_READ | PROT_WRITE);
  std::memset(data, value, bytes);
  if (range().open == 0) protect(data, bytes, PROT_NONE);
}

void forget_device_range() {
  Range& all = range();
  const std::size_t bytes = rounded_up(all.taken, kPage);
  unpoison(all.begin, bytes);
  mmap(all.begin, bytes, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE | MAP_FIXED, -1, 0);
  all.taken = kAlignment;
}

DeviceOpen::DeviceOpen() {
  if (range().open++ == 0) protect(range().begin, range().taken, PROT_READ | PROT_WRITE);
}

DeviceOpen::~DeviceOpen() {
  if (--range().open == 0) protect(range().begin, range().taken, PROT_NONE);
}

}  // namespace stepscope::cudasim
