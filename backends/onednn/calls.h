// A kernel of this backend: calls of the library and of own kernels, in a fixed order, each
// reported by itself.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <memory>
#include <vector>

#include "backends/api/kernel.h"
#include "backends/api/stream.h"
#include "backends/cpu/kernels.h"
#include "backends/onednn/library.h"
#include "ops/base/fixed_list.h"

namespace stepscope::onednn {

// One call, made when its op is lowered.
class Call {
 public:
  virtual ~Call() = default;
  Call(const Call&) = delete;
  Call& operator=(const Call&) = delete;
  virtual void run(std::byte* const* operands, std::byte* scratch) const = 0;

  CallBy by() const { return by_; }
  std::size_t scratch_bytes() const { return scratch_bytes_; }

 protected:
  Call(CallBy by, std::size_t scratch_bytes) : by_(by), scratch_bytes_(scratch_bytes) {}

 private:
  CallBy by_;
  std::size_t scratch_bytes_;
};

std::unique_ptr<Call> primitive_call(Primitive primitive);
// a, b -> c = alpha a b + beta c
std::unique_ptr<Call> sgemm_call(const Product& site, float alpha, float beta);
std::unique_ptr<Call> own_call(const cpu::Body& body);
// dw in `layout` -> w -= dw, where w {O, C, KH, KW} is row-major
std::unique_ptr<Call> subtract_call(const Shape& shape, LayoutId layout);

// A place among the kernel's operands, or its memory for values between calls.
inline constexpr int kBetween = -1;

struct Step {
  std::unique_ptr<Call> call;
  FixedList<int, 6> operands;  // of the call: indices of the kernel's operands, or kBetween
};

// Runs its steps one after the other. Requires: one stream at a time launches it, since primitives
// hold the addresses that they run on.
class CallsKernel final : public Kernel {
 public:
  // `between`: bytes for values between the calls. `threads`: of the library.
  CallsKernel(const OpSite& site, int threads, std::vector<Step> steps, std::size_t between = 0);

 private:
  static void launch(const Launch& call, Stream& stream);

  int threads_;
  std::vector<Step> steps_;
  std::size_t between_;  // bytes, rounded up to the alignment of what follows
};

}  // namespace stepscope::onednn
