// Convolutions of images, their gradients, and the gradient of a bias per channel.
// Cross-correlation with zero padding: y[n,o,i,j] is the sum over c, k, l of
// x[n, c, i stride_h + k - pad_h, j stride_w + l - pad_w] w[o,c,k,l].
// SPDX-License-Identifier: Apache-2.0
#include "ops/defs/convolution.h"

#include <algorithm>
#include <limits>

#include "ops/base/check.h"
#include "ops/ir/build.h"

namespace stepscope::defs {
namespace {

std::int64_t outputs_along(std::string_view op, std::int64_t size, std::int64_t kernel,
                           std::int64_t stride, std::int64_t pad) {
  check(stride >= 1 && pad >= 0, Fault::bad_graph,
        "{}: strides must be 1 or more and paddings 0 or more, got {} and {}", op, stride, pad);
  check_window(op, size, kernel, stride, pad);
  check(kernel <= size + 2 * pad, Fault::bad_graph,
        "{}: a kernel of {} does not fit {} padded by {}", op, kernel, size, pad);
  return (size + 2 * pad - kernel) / stride + 1;
}

}  // namespace

void check_window(std::string_view op, std::int64_t size, std::int64_t kernel, std::int64_t stride,
                  std::int64_t pad) {
  constexpr std::int64_t kMost = std::numeric_limits<std::int32_t>::max();
  check(std::max({size, kernel, stride, pad}) <= kMost, Fault::bad_graph,
        "{}: an image of {}, a window of {}, a stride of {} or a padding of {} is above {}", op,
        size, kernel, stride, pad, kMost);
  check(size + 2 * pad <= kMost, Fault::bad_graph, "{}: an image of {} padded by {} is above {}",
        op, size, pad, kMost);
}

void check_image(std::string_view op, const TensorType& type, std::string_view operand) {
  check_rank(op, type, 4, operand);
  check_floating(op, type, operand);
}

void check_same_dtype(std::string_view op, const TensorType& a, const TensorType& b) {
  check(a.dtype == b.dtype, Fault::bad_graph, "{}: element types differ, {} and {}", op,
        name(a.dtype), name(b.dtype));
}

Shape convolved(std::string_view op, const Shape& x, const Shape& w, std::int64_t stride_h,
                std::int64_t stride_w, std::int64_t pad_h, std::int64_t pad_w) {
  check(x[1] == w[1], Fault::bad_graph, "{}: x {} has {} channels, the weights {} take {}", op,
        to_string(x), x[1], to_string(w), w[1]);
  return {x[0], w[0], outputs_along(op, x[2], w[2], stride_h, pad_h),
          outputs_along(op, x[3], w[3], stride_w, pad_w)};
}

// x {N, C, H, W}, w {O, C, KH, KW} -> y {N, O, OH, OW}
void append_conv2d(std::string_view op, std::span<const TensorType> in, const Conv2dAttrs& attrs,
                   TypeList& out) {
  check_image(op, in[0], "x");
  check_image(op, in[1], "w");
  check_same_dtype(op, in[0], in[1]);
  out.push_back({convolved(op, in[0].shape, in[1].shape, attrs.stride_h, attrs.stride_w,
                           attrs.pad_h, attrs.pad_w),
                 in[0].dtype, attrs.layout});
}

// dy {N, O, OH, OW}, w {O, C, KH, KW} -> dx {N, C, height, width}
void append_conv2d_input_grad(std::string_view op, std::span<const TensorType> in,
                              const Conv2dGradAttrs& attrs, TypeList& out) {
  check_image(op, in[0], "dy");
  check_image(op, in[1], "w");
  check_same_dtype(op, in[0], in[1]);
  const Shape dx{in[0].shape[0], in[1].shape[1], attrs.height, attrs.width};
  const Shape y =
      convolved(op, dx, in[1].shape, attrs.stride_h, attrs.stride_w, attrs.pad_h, attrs.pad_w);
  check(y == in[0].shape, Fault::bad_graph, "{}: dy is {}, an input of {} gives {}", op,
        to_string(in[0].shape), to_string(dx), to_string(y));
  out.push_back({dx, in[0].dtype, attrs.layout});
}

// x {N, C, H, W}, dy {N, O, OH, OW} -> dw {O, C, height, width}
void append_conv2d_weight_grad(std::string_view op, std::span<const TensorType> in,
                               const Conv2dGradAttrs& attrs, TypeList& out) {
  check_image(op, in[0], "x");
  check_image(op, in[1], "dy");
  check_same_dtype(op, in[0], in[1]);
  const Shape dw{in[1].shape[1], in[0].shape[1], attrs.height, attrs.width};
  const Shape y =
      convolved(op, in[0].shape, dw, attrs.stride_h, attrs.stride_w, attrs.pad_h, attrs.pad_w);
  check(y == in[1].shape, Fault::bad_graph, "{}: dy is {}, weights of {} give {}", op,
        to_string(in[1].shape), to_string(dw), to_string(y));
  out.push_back({dw, in[0].dtype, attrs.layout});
}

// One product and one sum for each element of y and of a kernel, the same in all three directions.
// Places where the kernel meets padding are counted, as is usual.
double convolution_flops(const Shape& y, const Shape& w) {
  const std::int64_t places = w.elements() / w[0];
  return 2.0 * static_cast<double>(y.elements()) * static_cast<double>(places);
}

namespace {

void check_no_activation(std::string_view op, Activation activation) {
  check(activation == Activation::none, Fault::bad_graph, "{}: takes no activation, got {}", op,
        name(activation));
}

void infer_conv2d(std::span<const TensorType> in, const Attrs& attrs, TypeList& out) {
  check_arity("Conv2d", in, 2);
  const auto& settings = own_attrs<Conv2dAttrs>("Conv2d", attrs);
  check_no_activation("Conv2d", settings.activation);
  append_conv2d("Conv2d", in, settings, out);
}

// The gradient of x stands before that of w, as in MatMul: where an update follows the gradient of
// w, the old weights are read before.
void vjp_conv2d(GradientRequest& request) {
  const auto& attrs = std::get<Conv2dAttrs>(request.op.attrs);
  Graph& graph = request.graph;
  const ValueId x = request.op.inputs[0];
  const ValueId w = request.op.inputs[1];
  const ValueId dy = request.output_grads[0];
  const auto settings_for = [&](const Shape& shape) {
    return Conv2dGradAttrs{.stride_h = attrs.stride_h,
                           .stride_w = attrs.stride_w,
                           .pad_h = attrs.pad_h,
                           .pad_w = attrs.pad_w,
                           .height = shape[2],
                           .width = shape[3]};
  };
  if (request.wanted[0]) {
    request.input_grads[0] =
        graph.apply1(OpKind::Conv2dInputGrad, {dy, w}, settings_for(graph.type(x).shape));
  }
  if (request.wanted[1]) {
    request.input_grads[1] =
        graph.apply1(OpKind::Conv2dWeightGrad, {x, dy}, settings_for(graph.type(w).shape));
  }
}

Work work_conv2d(std::span<const TensorType> in, std::span<const TensorType> out, const Attrs&) {
  return {convolution_flops(out[0].shape, in[1].shape), bytes_moved(in, out)};
}

void infer_input_grad(std::span<const TensorType> in, const Attrs& attrs, TypeList& out) {
  check_arity("Conv2dInputGrad", in, 2);
  append_conv2d_input_grad("Conv2dInputGrad", in,
                           own_attrs<Conv2dGradAttrs>("Conv2dInputGrad", attrs), out);
}

Work work_input_grad(std::span<const TensorType> in, std::span<const TensorType> out,
                     const Attrs&) {
  return {convolution_flops(in[0].shape, in[1].shape), bytes_moved(in, out)};
}

void infer_weight_grad(std::span<const TensorType> in, const Attrs& attrs, TypeList& out) {
  check_arity("Conv2dWeightGrad", in, 2);
  append_conv2d_weight_grad("Conv2dWeightGrad", in,
                            own_attrs<Conv2dGradAttrs>("Conv2dWeightGrad", attrs), out);
}

Work work_weight_grad(std::span<const TensorType> in, std::span<const TensorType> out,
                      const Attrs&) {
  return {convolution_flops(in[1].shape, out[0].shape), bytes_moved(in, out)};
}

// dy {N, C, ...} -> db {C}: the sum over all but the channels
void infer_bias_grad(std::span<const TensorType> in, const Attrs&, TypeList& out) {
  check_arity("BiasGrad", in, 1);
  check_floating("BiasGrad", in[0], "dy");
  check(in[0].shape.rank() >= 2, Fault::bad_graph, "BiasGrad: dy must have rank 2 or more, got {}",
        to_string(in[0]));
  out.push_back({{in[0].shape[1]}, in[0].dtype});
}

// d dy[n, c, ...] = d_db[c]
void vjp_bias_grad(GradientRequest& request) {
  Graph& graph = request.graph;
  const Shape shape = graph.type(request.op.inputs[0]).shape;
  ValueId gradient = build::broadcast(graph, request.output_grads[0], 0, shape[0]);
  for (std::size_t axis = 2; axis < shape.rank(); ++axis) {
    gradient = build::broadcast(graph, gradient, static_cast<std::int64_t>(axis), shape[axis]);
  }
  request.input_grads[0] = gradient;
}

Work work_bias_grad(std::span<const TensorType> in, std::span<const TensorType> out, const Attrs&) {
  return {static_cast<double>(in[0].shape.elements()), bytes_moved(in, out)};
}

}  // namespace

extern const OpDef Conv2d = {.name = "Conv2d",
                             .infer = infer_conv2d,
                             .vjp = vjp_conv2d,
                             .work = work_conv2d,
                             .attrs = Conv2dAttrs{},
                             .any_layout = 0b11};

extern const OpDef Conv2dInputGrad = {.name = "Conv2dInputGrad",
                                      .infer = infer_input_grad,
                                      .work = work_input_grad,
                                      .attrs = Conv2dGradAttrs{},
                                      .any_layout = 0b11};

extern const OpDef Conv2dWeightGrad = {.name = "Conv2dWeightGrad",
                                       .infer = infer_weight_grad,
                                       .work = work_weight_grad,
                                       .attrs = Conv2dGradAttrs{},
                                       .any_layout = 0b11};

extern const OpDef BiasGrad = {.name = "BiasGrad",
                               .infer = infer_bias_grad,
                               .vjp = vjp_bias_grad,
                               .work = work_bias_grad,
                               .any_layout = 0b1};

}  // namespace stepscope::defs
