// LayoutChooser: how a backend says in which layout its kernels want their operands. A pass
// (graph/passes/layout.h) asks it op by op and inserts Reorder ops where layouts differ.
// What the numbers of layouts mean is between the chooser and the kernels of its backend.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <span>

#include "ops/base/fixed_list.h"
#include "ops/ir/op_def.h"

namespace stepscope {

struct LayoutRequest {
  OpKind kind{};
  const Attrs& attrs;
  std::span<const TensorType> in;  // as they are now, layouts included
};

struct LayoutChoice {
  FixedList<LayoutId, kMaxInputs> in;  // the layout that the kernel wants of each input
  Attrs attrs;  // of the op; with the layout of its output, where its attributes hold one
};

class LayoutChooser {
 public:
  virtual ~LayoutChooser() = default;
  // The same request gets the same answer. Requires: the inputs pass the shape rule of the op when
  // they are row-major.
  virtual LayoutChoice choose(const LayoutRequest& request) = 0;
};

}  // namespace stepscope
