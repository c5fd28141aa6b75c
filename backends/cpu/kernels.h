// Own kernels for processors, shared by the CPU backends: compiled for three instruction sets,
// chosen when they are made. They cover every op that is no product and no convolution, on f32, in
// row-major and in channel-blocked layouts (backends/cpu/layout.h).
// Sums are added in an order that depends on shape and layout alone: the same on every instruction
// set and at every address. Except for element types, all that they refuse is named by make_body.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>

#include "backends/api/kernel.h"
#include "backends/cpu/isa.h"
#include "backends/cpu/kernels/numbers.h"

namespace stepscope::cpu {

// A call without its addresses: a function and its numbers, to be copied freely. Runs on the
// calling thread and allocates nothing.
class Body {
 public:
  struct Traits {
    std::size_t saved = 0;       // bytes of each output with Role::saved
    std::uint32_t in_place = 0;  // as Needs::in_place
  };

  Body(Function function, const Numbers& numbers, Traits traits)
      : function_(function), numbers_(numbers), traits_(traits) {}

  // Inputs, then outputs, as in Launch. Requires: scratch has scratch_bytes(), or is null for none.
  void operator()(std::byte* const* operands, std::byte* scratch) const {
    function_(operands, scratch, numbers_);
  }
  std::size_t scratch_bytes() const { return 0; }
  std::size_t saved_bytes() const { return traits_.saved; }
  std::uint32_t in_place() const { return traits_.in_place; }

 private:
  Function function_;
  Numbers numbers_;
  Traits traits_;
};

// Whether there are own kernels for the op, whatever the types.
bool has_body(OpKind kind);

// Throws unsupported for an op without kernels, for element types other than f32 (Cast, Gather and
// Reorder say what they take), for layouts that are not blocked by channels and for layouts of an
// op that takes row-major only. Requires: the site passed the shape rule of its op.
Body make_body(const OpSite& site, Isa isa);

// A kernel around the body of the site, which reports one call, by CallBy::own.
std::unique_ptr<Kernel> make_kernel(const OpSite& site, Isa isa);

// What Needs says of the outputs of a site: the bytes of each, with the padding of blocked layouts;
// empty when all are row-major.
std::vector<std::size_t> output_bytes(const OpSite& site);

}  // namespace stepscope::cpu
