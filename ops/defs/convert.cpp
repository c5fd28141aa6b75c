// Cast to another element type, and Reorder to another layout (or, to the same one, a copy).
// SPDX-License-Identifier: Apache-2.0
#include "ops/base/check.h"
#include "ops/ir/op_def.h"

namespace stepscope::defs {
namespace {

// x -> the same shape as `to`. To whole numbers: truncated towards zero; what does not fit is
// unspecified.
void infer_cast(std::span<const TensorType> in, const Attrs& attrs, TypeList& out) {
  check_arity("Cast", in, 1);
  out.push_back({in[0].shape, own_attrs<CastAttrs>("Cast", attrs).to});
}

// Whole numbers have no gradient: nothing flows back through them.
void vjp_cast(GradientRequest& request) {
  const DType from = request.graph.type(request.op.inputs[0]).dtype;
  if (!is_floating(from) || !is_floating(std::get<CastAttrs>(request.op.attrs).to)) return;
  request.input_grads[0] =
      request.graph.apply1(OpKind::Cast, {request.output_grads[0]}, CastAttrs{from});
}

// x -> the same elements, in the layout of the attributes
void infer_reorder(std::span<const TensorType> in, const Attrs& attrs, TypeList& out) {
  check_arity("Reorder", in, 1);
  const LayoutId layout = own_attrs<ReorderAttrs>("Reorder", attrs).layout;
  check(layout == LayoutId::row_major || is_floating(in[0].dtype), Fault::bad_graph,
        "Reorder: only floating values have layouts, got {}", to_string(in[0]));
  out.push_back({in[0].shape, in[0].dtype, layout});
}

void vjp_reorder(GradientRequest& request) {
  const LayoutId from = request.graph.type(request.op.inputs[0]).layout;
  request.input_grads[0] =
      request.graph.apply1(OpKind::Reorder, {request.output_grads[0]}, ReorderAttrs{from});
}

Work work_moves(std::span<const TensorType> in, std::span<const TensorType> out, const Attrs&) {
  return {0.0, bytes_moved(in, out)};
}

}  // namespace

extern const OpDef Cast = {
    .name = "Cast", .infer = infer_cast, .vjp = vjp_cast, .work = work_moves, .attrs = CastAttrs{}};

extern const OpDef Reorder = {.name = "Reorder",
                              .infer = infer_reorder,
                              .vjp = vjp_reorder,
                              .work = work_moves,
                              .attrs = ReorderAttrs{},
                              .any_layout = 0b1};

}  // namespace stepscope::defs
