// MatMul and AddBias: what a dense layer is made of.
// SPDX-License-Identifier: Apache-2.0
#include "ops/defs/linear.h"

#include "ops/base/check.h"
#include "ops/ir/build.h"

namespace stepscope::defs {
namespace {

struct Sizes {
  std::int64_t rows, columns;
};

Sizes sizes_of(const TensorType& type, bool transpose) {
  const Shape& shape = type.shape;
  return transpose ? Sizes{shape[1], shape[0]} : Sizes{shape[0], shape[1]};
}

}  // namespace

ProductSizes product_sizes(std::string_view op, const TensorType& a, const TensorType& b,
                           bool transpose_a, bool transpose_b) {
  check_rank(op, a, 2, "a");
  check_rank(op, b, 2, "b");
  check_floating(op, a, "a");
  check_floating(op, b, "b");
  check(a.dtype == b.dtype, Fault::bad_graph, "{}: element types differ, {} and {}", op,
        name(a.dtype), name(b.dtype));
  const Sizes left = sizes_of(a, transpose_a);
  const Sizes right = sizes_of(b, transpose_b);
  check(left.columns == right.rows, Fault::bad_graph, "{}: inner sizes differ, {} and {}", op,
        left.columns, right.rows);
  return {left.rows, right.columns, left.columns};
}

double product_flops(const ProductSizes& sizes) {
  return 2.0 * static_cast<double>(sizes.rows) * static_cast<double>(sizes.columns) *
         static_cast<double>(sizes.inner);
}

void check_bias(std::string_view op, const TensorType& bias, std::int64_t size, DType dtype) {
  check(bias == TensorType({Shape{size}, dtype}), Fault::bad_graph,
        "{}: the bias must be {}, got {}", op, to_string(TensorType{Shape{size}, dtype}),
        to_string(bias));
}

namespace {

// a {M, K}, b {K, N} -> {M, N}; a transposed operand is stored with its dimensions swapped.
void infer_matmul(std::span<const TensorType> in, const Attrs& attrs, TypeList& out) {
  check_arity("MatMul", in, 2);
  const auto& settings = own_attrs<MatMulAttrs>("MatMul", attrs);
  check(settings.activation == Activation::none, Fault::bad_graph,
        "MatMul: takes no activation, got {}", name(settings.activation));
  const ProductSizes sizes =
      product_sizes("MatMul", in[0], in[1], settings.transpose_a, settings.transpose_b);
  out.push_back({{sizes.rows, sizes.columns}, in[0].dtype});
}

// Emits the gradient of a before that of b: where b is a weight, its old value is read before an
// update that follows its gradient can overwrite it.
void vjp_matmul(GradientRequest& request) {
  const bool ta = std::get<MatMulAttrs>(request.op.attrs).transpose_a;
  const bool tb = std::get<MatMulAttrs>(request.op.attrs).transpose_b;
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
  const auto& settings = std::get<MatMulAttrs>(attrs);
  const ProductSizes sizes =
      product_sizes("MatMul", in[0], in[1], settings.transpose_a, settings.transpose_b);
  return {product_flops(sizes), bytes_moved(in, out)};
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
  const ValueId gradient = request.output_grads[0];
  request.input_grads[0] = gradient;
  if (!request.wanted[1]) return;
  const Shape shape = graph.type(gradient).shape;
  request.input_grads[1] = shape.rank() == 2 ? build::reduce_sum(graph, gradient, 0)
                                             : graph.apply1(OpKind::BiasGrad, {gradient});
}

Work work_add_bias(std::span<const TensorType> in, std::span<const TensorType> out, const Attrs&) {
  return {static_cast<double>(out[0].shape.elements()), bytes_moved(in, out)};
}

}  // namespace

extern const OpDef MatMul = {.name = "MatMul",
                             .infer = infer_matmul,
                             .vjp = vjp_matmul,
                             .work = work_matmul,
                             .attrs = MatMulAttrs{}};

extern const OpDef AddBias = {.name = "AddBias",
                              .infer = infer_add_bias,
                              .vjp = vjp_add_bias,
                              .work = work_add_bias,
                              .in_place = 0b01,
                              .any_layout = 0b01};

}  // namespace stepscope::defs
