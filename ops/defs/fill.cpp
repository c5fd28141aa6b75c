// Fill: a constant. Autodiff seeds the gradient of the loss with it; simplify removes it there.
// SPDX-License-Identifier: Apache-2.0
#include "ops/base/check.h"
#include "ops/ir/op_def.h"

namespace stepscope::defs {
namespace {

void infer(std::span<const TensorType> in, const Attrs& attrs, TypeList& out) {
  check_arity("Fill", in, 0);
  const TensorType& type = own_attrs<FillAttrs>("Fill", attrs).type;
  check_type(type, "Fill");
  check_floating("Fill", type, "the value");
  out.push_back(type);
}

void vjp(GradientRequest&) {}  // no inputs: nothing flows back

Work work(std::span<const TensorType> in, std::span<const TensorType> out, const Attrs&) {
  return {0.0, bytes_moved(in, out)};
}

}  // namespace

extern const OpDef Fill = {
    .name = "Fill", .infer = infer, .vjp = vjp, .work = work, .attrs = FillAttrs{}};

}  // namespace stepscope::defs
