// Fused products, convolutions, pools and the fused loss: made by passes only, from the ops they
// stand for, so they have no gradient rules. Activations and masks as in ops/defs/pointwise.cpp.
// SPDX-License-Identifier: Apache-2.0
#include "ops/base/check.h"
#include "ops/defs/convolution.h"
#include "ops/defs/linear.h"
#include "ops/defs/pooling.h"
#include "ops/ir/op_def.h"

namespace stepscope::defs {
namespace {

double elements(const TensorType& type) { return static_cast<double>(type.shape.elements()); }

// x {M, K}, w {K, N}, b {N} -> y {M, N} = activation(x w + b)
void infer_linear(std::span<const TensorType> in, const Attrs& attrs, TypeList& out) {
  check_arity("Linear", in, 3);
  const auto& settings = own_attrs<MatMulAttrs>("Linear", attrs);
  const ProductSizes sizes =
      product_sizes("Linear", in[0], in[1], settings.transpose_a, settings.transpose_b);
  check_bias("Linear", in[2], sizes.columns, in[0].dtype);
  out.push_back({{sizes.rows, sizes.columns}, in[0].dtype});
}

template <class ProductAttrs>
double flops_of_product(std::span<const TensorType> in, const Attrs& attrs) {
  const auto& settings = std::get<ProductAttrs>(attrs);
  return product_flops(
      product_sizes("product", in[0], in[1], settings.transpose_a, settings.transpose_b));
}

// Two more operations an element: the bias, and the activation or mask.
Work work_linear(std::span<const TensorType> in, std::span<const TensorType> out,
                 const Attrs& attrs) {
  return {flops_of_product<MatMulAttrs>(in, attrs) + 2.0 * elements(out[0]), bytes_moved(in, out)};
}

// x {N, C, H, W}, w {O, C, KH, KW}, b {O} -> y {N, O, OH, OW} = activation(conv + b)
void infer_conv2d_bias(std::span<const TensorType> in, const Attrs& attrs, TypeList& out) {
  check_arity("Conv2dBias", in, 3);
  append_conv2d("Conv2dBias", in, own_attrs<Conv2dAttrs>("Conv2dBias", attrs), out);
  check_bias("Conv2dBias", in[2], out[0].shape[1], in[0].dtype);
}

Work work_conv2d_bias(std::span<const TensorType> in, std::span<const TensorType> out,
                      const Attrs&) {
  return {convolution_flops(out[0].shape, in[1].shape) + 2.0 * elements(out[0]),
          bytes_moved(in, out)};
}

// a {M, K}, b {K, N}, y {M, N} -> y <= 0 ? 0 : a b
void infer_matmul_relu_grad(std::span<const TensorType> in, const Attrs& attrs, TypeList& out) {
  check_arity("MatMulReluGrad", in, 3);
  const auto& settings = own_attrs<MatMulAttrs>("MatMulReluGrad", attrs);
  check(settings.activation == Activation::none, Fault::bad_graph,
        "MatMulReluGrad: takes no activation, got {}", name(settings.activation));
  const ProductSizes sizes =
      product_sizes("MatMulReluGrad", in[0], in[1], settings.transpose_a, settings.transpose_b);
  out.push_back({{sizes.rows, sizes.columns}, in[0].dtype});
  check_same_type("MatMulReluGrad", out[0], in[2]);
}

Work work_matmul_relu_grad(std::span<const TensorType> in, std::span<const TensorType> out,
                           const Attrs& attrs) {
  return {flops_of_product<MatMulAttrs>(in, attrs) + elements(out[0]), bytes_moved(in, out)};
}

// dy {N, O, OH, OW}, w {O, C, KH, KW}, y {N, C, H, W} -> y <= 0 ? 0 : the gradient of the input
void infer_conv2d_input_relu_grad(std::span<const TensorType> in, const Attrs& attrs,
                                  TypeList& out) {
  check_arity("Conv2dInputReluGrad", in, 3);
  append_conv2d_input_grad("Conv2dInputReluGrad", in,
                           own_attrs<Conv2dGradAttrs>("Conv2dInputReluGrad", attrs), out);
  check_same_type("Conv2dInputReluGrad", out[0], in[2]);
}

Work work_conv2d_input_relu_grad(std::span<const TensorType> in, std::span<const TensorType> out,
                                 const Attrs&) {
  return {convolution_flops(in[0].shape, in[1].shape) + elements(out[0]), bytes_moved(in, out)};
}

// dy {N, C, OH, OW}, saved, y as dy -> dx {N, C, H, W}: the gradient of y <= 0 ? 0 : dy
void infer_max_pool_relu_grad(std::span<const TensorType> in, const Attrs& attrs, TypeList& out) {
  check_arity("MaxPoolReluGrad", in, 3);
  append_max_pool_grad("MaxPoolReluGrad", in, attrs, out);
  check_same_type("MaxPoolReluGrad", in[0], in[2]);
}

Work work_max_pool_relu_grad(std::span<const TensorType> in, std::span<const TensorType> out,
                             const Attrs&) {
  return {2.0 * elements(in[0]), bytes_moved(in, out)};
}

// a {M, K}, b {K, N} -> c {M, N} = a b, sums {N}: of the columns of b
void infer_matmul_bias_grad(std::span<const TensorType> in, const Attrs& attrs, TypeList& out) {
  check_arity("MatMulBiasGrad", in, 2);
  const auto& settings = own_attrs<MatMulAttrs>("MatMulBiasGrad", attrs);
  check(settings.activation == Activation::none && !settings.transpose_b, Fault::bad_graph,
        "MatMulBiasGrad: takes b as it is stored, and no activation");
  const ProductSizes sizes =
      product_sizes("MatMulBiasGrad", in[0], in[1], settings.transpose_a, false);
  out.push_back({{sizes.rows, sizes.columns}, in[0].dtype});
  out.push_back({Shape{sizes.columns}, in[0].dtype});
}

Work work_matmul_bias_grad(std::span<const TensorType> in, std::span<const TensorType> out,
                           const Attrs& attrs) {
  return {flops_of_product<MatMulAttrs>(in, attrs) + elements(in[1]), bytes_moved(in, out)};
}

// x {N, C, H, W}, dy {N, O, OH, OW} -> dw {O, C, KH, KW}, db {O}
void infer_conv2d_weight_bias_grad(std::span<const TensorType> in, const Attrs& attrs,
                                   TypeList& out) {
  check_arity("Conv2dWeightBiasGrad", in, 2);
  append_conv2d_weight_grad("Conv2dWeightBiasGrad", in,
                            own_attrs<Conv2dGradAttrs>("Conv2dWeightBiasGrad", attrs), out);
  out.push_back({Shape{in[1].shape[1]}, in[0].dtype});
}

Work work_conv2d_weight_bias_grad(std::span<const TensorType> in, std::span<const TensorType> out,
                                  const Attrs&) {
  return {convolution_flops(in[1].shape, out[0].shape) + elements(in[1]), bytes_moved(in, out)};
}

// W {M, N}, a {M, K}, b {K, N} -> W - a b[, sums {N}: of the columns of b]
void infer_matmul_update(std::span<const TensorType> in, const Attrs& attrs, TypeList& out) {
  check_arity("MatMulUpdate", in, 3);
  const auto& settings = own_attrs<ProductUpdateAttrs>("MatMulUpdate", attrs);
  check(!settings.bias_grad || !settings.transpose_b, Fault::bad_graph,
        "MatMulUpdate: sums the columns of b only as it is stored");
  const ProductSizes sizes =
      product_sizes("MatMulUpdate", in[1], in[2], settings.transpose_a, settings.transpose_b);
  check_same_type("MatMulUpdate", in[0], {{sizes.rows, sizes.columns}, in[1].dtype});
  out.push_back(in[0]);
  if (settings.bias_grad) out.push_back({Shape{sizes.columns}, in[0].dtype});
}

Work work_matmul_update(std::span<const TensorType> in, std::span<const TensorType> out,
                        const Attrs& attrs) {
  const double sums = out.size() == 2 ? elements(in[2]) : 0.0;
  return {flops_of_product<ProductUpdateAttrs>(in.subspan(1), attrs) + sums + elements(out[0]),
          bytes_moved(in, out)};
}

// W {O, C, KH, KW}, x {N, C, H, W}, dy {N, O, OH, OW} -> W - dw[, db {O}]
void infer_conv2d_weight_update(std::span<const TensorType> in, const Attrs& attrs, TypeList& out) {
  check_arity("Conv2dWeightUpdate", in, 3);
  const auto& settings = own_attrs<Conv2dUpdateAttrs>("Conv2dWeightUpdate", attrs);
  check_image("Conv2dWeightUpdate", in[0], "W");
  TypeList dw;
  append_conv2d_weight_grad("Conv2dWeightUpdate", in.subspan(1),
                            {.stride_h = settings.stride_h,
                             .stride_w = settings.stride_w,
                             .pad_h = settings.pad_h,
                             .pad_w = settings.pad_w,
                             .height = in[0].shape[2],
                             .width = in[0].shape[3]},
                            dw);
  check_same_type("Conv2dWeightUpdate", in[0], dw[0]);
  out.push_back(in[0]);
  if (settings.bias_grad) out.push_back({Shape{in[2].shape[1]}, in[0].dtype});
}

Work work_conv2d_weight_update(std::span<const TensorType> in, std::span<const TensorType> out,
                               const Attrs&) {
  const double sums = out.size() == 2 ? elements(in[2]) : 0.0;
  return {convolution_flops(in[2].shape, in[0].shape) + sums + elements(out[0]),
          bytes_moved(in, out)};
}

// Output 0 is the new content of input 0, the weights; what else there is has its own memory.
int overwrites_weights(const Attrs&, std::size_t, std::size_t output) {
  return output == 0 ? 0 : -1;
}

// logits {N, C}, labels i32{N}[, rate {}] -> loss {}, d_logits {N, C}
//   = (softmax(logits) - one_hot(labels)) / rows not left out [* rate]; a row left out is zero
void infer_loss_with_grad(std::span<const TensorType> in, const Attrs& attrs, TypeList& out) {
  constexpr std::string_view kName = "SoftmaxCrossEntropyWithGrad";
  check(in.size() == 2 || in.size() == 3, Fault::bad_graph, "{}: takes 2 or 3 inputs, got {}",
        kName, in.size());
  op_def(OpKind::SoftmaxCrossEntropy).infer(in.first(2), attrs, out);
  if (in.size() == 3) check_same_type(kName, in[2], {Shape{}, in[0].dtype});
}

Work work_loss_with_grad(std::span<const TensorType> in, std::span<const TensorType> out,
                         const Attrs&) {
  return {7.0 * elements(in[0]), bytes_moved(in, out)};
}

}  // namespace

extern const OpDef Linear = {
    .name = "Linear", .infer = infer_linear, .work = work_linear, .attrs = MatMulAttrs{}};

extern const OpDef Conv2dBias = {.name = "Conv2dBias",
                                 .infer = infer_conv2d_bias,
                                 .work = work_conv2d_bias,
                                 .attrs = Conv2dAttrs{},
                                 .any_layout = 0b011};

extern const OpDef MatMulReluGrad = {.name = "MatMulReluGrad",
                                     .infer = infer_matmul_relu_grad,
                                     .work = work_matmul_relu_grad,
                                     .attrs = MatMulAttrs{}};

extern const OpDef Conv2dInputReluGrad = {.name = "Conv2dInputReluGrad",
                                          .infer = infer_conv2d_input_relu_grad,
                                          .work = work_conv2d_input_relu_grad,
                                          .attrs = Conv2dGradAttrs{},
                                          .any_layout = 0b111};

extern const OpDef MaxPoolReluGrad = {.name = "MaxPoolReluGrad",
                                      .infer = infer_max_pool_relu_grad,
                                      .work = work_max_pool_relu_grad,
                                      .attrs = Pool2dGradAttrs{},
                                      .any_layout = 0b101};

extern const OpDef MatMulBiasGrad = {.name = "MatMulBiasGrad",
                                     .infer = infer_matmul_bias_grad,
                                     .work = work_matmul_bias_grad,
                                     .attrs = MatMulAttrs{}};

extern const OpDef Conv2dWeightBiasGrad = {.name = "Conv2dWeightBiasGrad",
                                           .infer = infer_conv2d_weight_bias_grad,
                                           .work = work_conv2d_weight_bias_grad,
                                           .attrs = Conv2dGradAttrs{},
                                           .any_layout = 0b11};

extern const OpDef MatMulUpdate = {.name = "MatMulUpdate",
                                   .infer = infer_matmul_update,
                                   .work = work_matmul_update,
                                   .attrs = ProductUpdateAttrs{},
                                   .overwrites = overwrites_weights};

extern const OpDef Conv2dWeightUpdate = {.name = "Conv2dWeightUpdate",
                                         .infer = infer_conv2d_weight_update,
                                         .work = work_conv2d_weight_update,
                                         .attrs = Conv2dUpdateAttrs{},
                                         .overwrites = overwrites_weights,
                                         .any_layout = 0b110};

extern const OpDef SoftmaxCrossEntropyWithGrad = {.name = "SoftmaxCrossEntropyWithGrad",
                                                  .infer = infer_loss_with_grad,
                                                  .work = work_loss_with_grad};

}  // namespace stepscope::defs
