// MatMul and AddBias: what a dense layer is made of.
// SPDX-License-Identifier: Apache-2.0
#include "ops/base/check.h"
#include "ops/ir/build.h"
#include "ops/ir/op_def.h"

namespace stepscope::defs {
namespace {

struct Sizes {
  std::int64_t rows, columns;
};

Sizes sizes_of(const TensorType& type, bool transpose) {
  const Shape& shape = type.shape;
  return transpose ? Sizes{shape[1], shape[0]} : Sizes{shape[0], shape[1]};
}

// a {M, K}, b {K, N} -> {M, N}; a transposed operand is stored with its dimensions swapped.
void infer_matmul(std::span<const TensorType> in, const Attrs& attrs, TypeList& out) {
  check_arity("MatMul", in, 2);
  for (std::size_t i = 0; i < 2; ++i) {
    check_rank("MatMul", in[i], 2, i == 0 ? "a" : "b");
    check_floating("MatMul", in[i], i == 0 ? "a" : "b");
  }
  check(in[0].dtype == in[1].dtype, Fault::bad_graph, "MatMul: element types differ, {} and {}",
        name(in[0].dtype), name(in[1].dtype));
  const auto& settings = own_attrs<MatMulAttrs>("MatMul", attrs);
  const Sizes a = sizes_of(in[0], settings.transpose_a);
  const Sizes b = sizes_of(in[1], settings.transpose_b);
  check(a.columns == b.rows, Fault::bad_graph, "MatMul: inner sizes differ, {} and {}", a.columns,
        b.rows);
  out.push_back({{a.rows, b.columns}, in[0].dtype});
}

// Emits the gradient of a before that of b: where b is a weight, its old value is read before an
// update that follows its gradient can overwrite it.
void vjp_matmul(GradientRequest& request) {
  const auto [ta, tb] = std::get<MatMulAttrs>(request.op.attrs);
  const ValueId a = request.op.inputs[0];
  const ValueId b = request.op.inputs[1];
  const ValueId dc = request.output_grads[0];
  Graph& graph = request.graph;
  if (request.wanted[0]) {
    request.input_grads[0] =
        ta ? build::matmul(graph, b, dc, {tb, true}) : build::matmul(graph, dc, b, {false, !tb});
  }
  if (request.wanted[1]) {
    request.input_grads[1] =
        tb ? build::matmul(graph, dc, a, {true, ta}) : build::matmul(graph, a, dc, {!ta, false});
  }
}

Work work_matmul(std::span<const TensorType> in, std::span<const TensorType> out,
                 const Attrs& attrs) {
  const Sizes a = sizes_of(in[0], std::get<MatMulAttrs>(attrs).transpose_a);
  const auto products =
      static_cast<double>(out[0].shape.elements()) * static_cast<double>(a.columns);
  return {2.0 * products, bytes_moved(in, out)};
}

// x {N, C, ...}, bias {C} -> type of x
void infer_add_bias(std::span<const TensorType> in, const Attrs&, TypeList& out) {
  check_arity("AddBias", in, 2);
  check_floating("AddBias", in[0], "x");
  check(in[0].shape.rank() >= 2, Fault::bad_graph, "AddBias: x must have rank 2 or more, got {}",
        to_string(in[0]));
  check_rank("AddBias", in[1], 1, "bias");
  check(in[0].dtype == in[1].dtype, Fault::bad_graph, "AddBias: element types differ, {} and {}",
        name(in[0].dtype), name(in[1].dtype));
  check(in[0].shape[1] == in[1].shape[0], Fault::bad_graph,
        "AddBias: x {} has {} channels, bias has {}", to_string(in[0].shape), in[0].shape[1],
        in[1].shape[0]);
  out.push_back(in[0]);
}

void vjp_add_bias(GradientRequest& request) {
  Graph& graph = request.graph;
  ValueId gradient = request.output_grads[0];
  request.input_grads[0] = gradient;
  if (!request.wanted[1]) return;
  const Shape shape = graph.type(gradient).shape;
  if (shape.rank() > 2) {
    const std::int64_t inner = shape.elements() / (shape[0] * shape[1]);
    gradient = graph.reshape(gradient, {shape[0], shape[1], inner});
    gradient = build::reduce_sum(graph, gradient, 2);
  }
  request.input_grads[1] = build::reduce_sum(graph, gradient, 0);
}

Work work_add_bias(std::span<const TensorType> in, std::span<const TensorType> out, const Attrs&) {
  return {static_cast<double>(out[0].shape.elements()), bytes_moved(in, out)};
}

}  // namespace

extern const OpDef MatMul = {.name = "MatMul",
                             .infer = infer_matmul,
                             .vjp = vjp_matmul,
                             .work = work_matmul,
                             .fusion = Fusion::takes_epilogue};

extern const OpDef AddBias = {.name = "AddBias",
                              .infer = infer_add_bias,
                              .vjp = vjp_add_bias,
                              .work = work_add_bias,
                              .fusion = Fusion::pointwise,
                              .in_place = 0b01};

}  // namespace stepscope::defs
