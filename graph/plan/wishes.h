// Wishes: what the kernels of a backend want of the passes. The passes ask no backend and know
// none: they are told this.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cstdint>

#include "ops/ir/op_kind.h"

namespace stepscope {

class LayoutChooser;  // graph/plan/layout.h

struct Wishes {
  // In which layouts; null: row-major, all of them. Lives as long as the backend.
  LayoutChooser* layouts = nullptr;
  // The gradient of relu reads the bits that the product in front of it saved, not its output.
  bool relu_mask = false;
  // A weight of at most so many elements is updated together with the other parameters, its product
  // included, by one kernel; 0: none is.
  std::int64_t small_product = 0;
};

// The ops that passes make for backends that wish for them, and for nobody else. What has no such
// wish need not compute them.
inline constexpr std::array kWishedOps = {OpKind::LinearReluMask, OpKind::MatMulMaskGrad,
                                          OpKind::MatMulSgdUpdate};

}  // namespace stepscope
