// Fiber: stacks with guard pages, the two ways to switch, and what the sanitizers are told of it.
// SPDX-License-Identifier: Apache-2.0
#include "backends/cuda/sim/fiber.h"

#include <sys/mman.h>

#include <cstdint>
#include <new>

#include "backends/cuda/sim/sanitizers.h"

#if !defined(__x86_64__) || defined(STEPSCOPE_CUDASIM_UCONTEXT)
#include <ucontext.h>
#endif

namespace stepscope::cudasim {
namespace {

constexpr std::size_t kGuard = 4096;
// Reports of the sanitizers are written on the stack of the thread that they are about.
constexpr std::size_t kStack = (kAsan || kTsan ? 256 : 64) * 1024;

std::byte* make_stack() {
  void* memory = mmap(nullptr, kGuard + kStack, PROT_READ | PROT_WRITE,
                      MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (memory == MAP_FAILED || mprotect(memory, kGuard, PROT_NONE) != 0) {
    throw std::bad_alloc();
  }
  return static_cast<std::byte*>(memory);
}

// What of it a fiber uses. All stacks begin at the same place of a page: were that used, those of a
// block would compete for the few lines of a cache that this place maps to, and each switch miss
// it.
std::size_t stack_bytes(const std::byte* memory) {
  constexpr std::size_t kLine = 64, kLines = 61;  // a prime number of them, a page nearly
  const auto page = reinterpret_cast<std::uintptr_t>(memory) / kGuard;
  return kStack - page * 0x9E3779B1 % kLines * kLine;
}

}  // namespace

#if defined(__x86_64__) && !defined(STEPSCOPE_CUDASIM_UCONTEXT)

// Saves what the calling convention says a call keeps, changes stacks, and restores it there. Where
// a fiber begins, r12 and r13 are its first call, and an unwinder finds the end.
asm(R"(
.text
.globl stepscope_cudasim_switch
.type stepscope_cudasim_switch, @function
stepscope_cudasim_switch:
  .cfi_startproc
  pushq %rbp
  pushq %rbx
  pushq %r12
  pushq %r13
  pushq %r14
  pushq %r15
  movq %rsp, (%rdi)
  movq %rsi, %rsp
  popq %r15
  popq %r14
  popq %r13
  popq %r12
  popq %rbx
  popq %rbp
  ret
  .cfi_endproc
.size stepscope_cudasim_switch, . - stepscope_cudasim_switch
.globl stepscope_cudasim_begin
.type stepscope_cudasim_begin, @function
stepscope_cudasim_begin:
  .cfi_startproc
  .cfi_undefined rip
  movq %r12, %rdi
  call *%r13
  ud2
  .cfi_endproc
.size stepscope_cudasim_begin, . - stepscope_cudasim_begin
)");
extern "C" void stepscope_cudasim_switch(void** save, void* load);
extern "C" void stepscope_cudasim_begin();

struct Fiber::Machine {
  void* host = nullptr;
  void* own = nullptr;

  void prepare(std::byte* stack, std::size_t bytes, void (*entry)(Fiber*), Fiber* fiber) {
    // As the switch restores them: r15 r14 r13 r12 rbx rbp, then where it returns to. The stack is
    // aligned to 16 bytes once that is popped.
    auto** slots = reinterpret_cast<void**>(stack + bytes) - 9;
    slots[0] = slots[1] = slots[4] = slots[5] = nullptr;
    slots[2] = reinterpret_cast<void*>(entry);
    slots[3] = fiber;
    slots[6] = reinterpret_cast<void*>(&stepscope_cudasim_begin);
    slots[7] = slots[8] = nullptr;
    own = slots;
  }
  void to_fiber() { stepscope_cudasim_switch(&host, own); }
  void to_host() { stepscope_cudasim_switch(&own, host); }
};

#else

struct Fiber::Machine {
  ucontext_t host, own;

  static void start(unsigned high, unsigned low) {
    const std::uintptr_t address = (static_cast<std::uintptr_t>(high) << 32) | low;
    enter(reinterpret_cast<Fiber*>(address));
  }
  void prepare(std::byte* stack, std::size_t bytes, void (*)(Fiber*), Fiber* fiber) {
    const auto address = reinterpret_cast<std::uintptr_t>(fiber);
    getcontext(&own);
    own.uc_stack.ss_sp = stack;
    own.uc_stack.ss_size = bytes;
    own.uc_link = nullptr;
    makecontext(&own, reinterpret_cast<void (*)()>(&start), 2, static_cast<unsigned>(address >> 32),
                static_cast<unsigned>(address));
  }
  void to_fiber() { swapcontext(&host, &own); }
  void to_host() { swapcontext(&own, &host); }
};

#endif

Fiber::Fiber(Body body)
    : body_(body), memory_(make_stack()), machine_(new Machine), tsan_(tsan_create()) {
  machine_->prepare(memory_ + kGuard, stack_bytes(memory_), &Fiber::enter, this);
}

Fiber::~Fiber() {
  tsan_destroy(tsan_);
  unpoison(memory_ + kGuard, kStack);
  munmap(memory_, kGuard + kStack);
}

void Fiber::enter(Fiber* fiber) {
  asan_arrive(nullptr, &fiber->host_bottom_, &fiber->host_bytes_);
  fiber->body_(*fiber);
  __builtin_trap();
}

void Fiber::resume() {
  tsan_host_ = tsan_current();
  asan_leave(&fake_host_, memory_ + kGuard, kStack);
  tsan_switch(tsan_);
  machine_->to_fiber();
  asan_arrive(fake_host_, nullptr, nullptr);
}

void Fiber::suspend() {
  asan_leave(&fake_own_, host_bottom_, host_bytes_);
  tsan_switch(tsan_host_);
  machine_->to_host();
  asan_arrive(fake_own_, &host_bottom_, &host_bytes_);
}

void Fiber::restart(void* order) {
  void* const host = tsan_current();
  tsan_switch(tsan_);
  release(order);
  tsan_switch(host);
  unpoison(memory_ + kGuard, kStack);
  // ThreadSanitizer's own stack of calls would keep those that never returned.
  tsan_destroy(tsan_);
  tsan_ = tsan_create();
  machine_->prepare(memory_ + kGuard, stack_bytes(memory_), &Fiber::enter, this);
}

}  // namespace stepscope::cudasim
