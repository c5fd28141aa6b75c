// Fiber: a stack of its own for code that must be suspended in the middle. x86-64 switches by hand
// (a few nanoseconds), other machines by ucontext (a system call).
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <memory>

namespace stepscope::cudasim {

// Resumed by the host's stack, suspended back to it; a fiber never resumes another one.
class Fiber {
 public:
  // `body` must not return: it suspends for ever when it has nothing left to do.
  using Body = void (*)(Fiber&);
  explicit Fiber(Body body);
  ~Fiber();
  Fiber(const Fiber&) = delete;
  Fiber& operator=(const Fiber&) = delete;

  void resume();   // from the host's stack, until the body suspends
  void suspend();  // from the body
  // Forgets where the body was; nothing of its stack is destroyed. The next resume starts it anew.
  // What it did until now is released to `order` (sanitizers.h).
  void restart(void* order);

 private:
  struct Machine;  // what a switch saves
  static void enter(Fiber* fiber);

  Body body_;
  std::byte* memory_ = nullptr;  // a guard page, then the stack
  std::unique_ptr<Machine> machine_;
  void* tsan_ = nullptr;
  void* tsan_host_ = nullptr;
  void* fake_host_ = nullptr;  // AddressSanitizer's, of the stack that is left
  void* fake_own_ = nullptr;
  const void* host_bottom_ = nullptr;
  std::size_t host_bytes_ = 0;
};

}  // namespace stepscope::cudasim
