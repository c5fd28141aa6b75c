// Gather and ScatterAdd of rows: each is the other's gradient. Indices lie in [0, rows): data and
// models see to it, the ops do not check.
// SPDX-License-Identifier: Apache-2.0
#include "ops/base/check.h"
#include "ops/ir/op_def.h"

namespace stepscope::defs {
namespace {

void check_rows(std::string_view op, const TensorType& type, std::string_view operand) {
  check_floating(op, type, operand);
  check(type.shape.rank() >= 1, Fault::bad_graph, "{}: {} must have rank 1 or more, got {}", op,
        operand, to_string(type));
}

void check_indices(std::string_view op, const TensorType& type) {
  check_rank(op, type, 1, "indices");
  check(type.dtype == DType::i32, Fault::bad_graph, "{}: indices must be i32, got {}", op,
        to_string(type));
}

Shape with_rows(const Shape& shape, std::int64_t rows) {
  FixedList<std::int64_t, Shape::kMaxRank> dims;
  dims.push_back(rows);
  for (std::size_t axis = 1; axis < shape.rank(); ++axis) dims.push_back(shape[axis]);
  return Shape(std::span<const std::int64_t>(dims.data(), dims.size()));
}

// table {R, ...}, indices i32{N} -> {N, ...}
void infer_gather(std::span<const TensorType> in, const Attrs&, TypeList& out) {
  check_arity("Gather", in, 2);
  check_rows("Gather", in[0], "the table");
  check_indices("Gather", in[1]);
  out.push_back({with_rows(in[0].shape, in[1].shape[0]), in[0].dtype});
}

void vjp_gather(GradientRequest& request) {
  if (!request.wanted[0]) return;
  const std::int64_t rows = request.graph.type(request.op.inputs[0]).shape[0];
  request.input_grads[0] = request.graph.apply1(
      OpKind::ScatterAdd, {request.output_grads[0], request.op.inputs[1]}, ScatterAddAttrs{rows});
}

// Reads only the rows it takes.
Work work_gather(std::span<const TensorType> in, std::span<const TensorType> out, const Attrs&) {
  return {0.0, 2.0 * static_cast<double>(out[0].bytes()) + static_cast<double>(in[1].bytes())};
}

// updates {N, ...}, indices i32{N} -> {rows, ...}: zeros, and each update added to its row, in the
// order of n
void infer_scatter_add(std::span<const TensorType> in, const Attrs& attrs, TypeList& out) {
  check_arity("ScatterAdd", in, 2);
  check_rows("ScatterAdd", in[0], "the updates");
  check_indices("ScatterAdd", in[1]);
  check(in[0].shape[0] == in[1].shape[0], Fault::bad_graph, "ScatterAdd: {} indices for {} rows",
        in[1].shape[0], in[0].shape[0]);
  const std::int64_t rows = own_attrs<ScatterAddAttrs>("ScatterAdd", attrs).rows;
  check(rows >= 1, Fault::bad_graph, "ScatterAdd: rows must be 1 or more, got {}", rows);
  out.push_back({with_rows(in[0].shape, rows), in[0].dtype});
}

void vjp_scatter_add(GradientRequest& request) {
  if (!request.wanted[0]) return;
  request.input_grads[0] =
      request.graph.apply1(OpKind::Gather, {request.output_grads[0], request.op.inputs[1]});
}

Work work_scatter_add(std::span<const TensorType> in, std::span<const TensorType> out,
                      const Attrs&) {
  return {static_cast<double>(in[0].shape.elements()), bytes_moved(in, out)};
}

}  // namespace

extern const OpDef Gather = {
    .name = "Gather", .infer = infer_gather, .vjp = vjp_gather, .work = work_gather};

extern const OpDef ScatterAdd = {.name = "ScatterAdd",
                                 .infer = infer_scatter_add,
                                 .vjp = vjp_scatter_add,
                                 .work = work_scatter_add,
                                 .attrs = ScatterAddAttrs{}};

}  // namespace stepscope::defs
