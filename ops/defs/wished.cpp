// Fused products that passes make only for a backend that wishes for them (graph/plan/wishes.h):
// relu with a mask of its own, and the small product that updates with the rest of the parameters.
// They have no gradient rules, as all that is fused.
// SPDX-License-Identifier: Apache-2.0
#include "ops/base/check.h"
#include "ops/defs/linear.h"
#include "ops/ir/op_def.h"

namespace stepscope::defs {
namespace {

constexpr char kLinearReluMask[] = "LinearReluMask", kMatMulMaskGrad[] = "MatMulMaskGrad",
               kMatMulSgdUpdate[] = "MatMulSgdUpdate";

double elements(const TensorType& type) { return static_cast<double>(type.shape.elements()); }

template <class ProductAttrs>
double flops_of(std::span<const TensorType> in, const Attrs& attrs) {
  const auto& settings = std::get<ProductAttrs>(attrs);
  return product_flops(
      product_sizes("product", in[0], in[1], settings.transpose_a, settings.transpose_b));
}

// x {M, K}, w {K, N}, b {N} -> y {M, N} = relu(x w + b), saved: where y lets a gradient through
void infer_linear_relu_mask(std::span<const TensorType> in, const Attrs& attrs, TypeList& out) {
  check_arity(kLinearReluMask, in, 3);
  const auto& settings = own_attrs<MatMulAttrs>(kLinearReluMask, attrs);
  check(settings.activation == Activation::relu, Fault::bad_graph,
        "{}: its activation is relu, got {}", kLinearReluMask, name(settings.activation));
  const ProductSizes sizes =
      product_sizes(kLinearReluMask, in[0], in[1], settings.transpose_a, settings.transpose_b);
  check_bias(kLinearReluMask, in[2], sizes.columns, in[0].dtype);
  out.push_back({{sizes.rows, sizes.columns}, in[0].dtype});
  out.push_back({{sizes.rows, sizes.columns}, DType::u8});
}

// Three more operations an element: the bias, the activation, the mask.
Work work_linear_relu_mask(std::span<const TensorType> in, std::span<const TensorType> out,
                           const Attrs& attrs) {
  return {flops_of<MatMulAttrs>(in, attrs) + 3.0 * elements(out[0]), bytes_moved(in, out)};
}

// a {M, K}, b {K, N}, saved {M, N} -> y <= 0 ? 0 : a b, by what LinearReluMask saved of y. Where y
// is NaN it is one of the two, whichever: libraries do not say what their mask holds there, and the
// loss and the gradients of the weights that read y are NaN already.
void infer_matmul_mask_grad(std::span<const TensorType> in, const Attrs& attrs, TypeList& out) {
  check_arity(kMatMulMaskGrad, in, 3);
  const auto& settings = own_attrs<MatMulAttrs>(kMatMulMaskGrad, attrs);
  check(settings.activation == Activation::none, Fault::bad_graph,
        "{}: takes no activation, got {}", kMatMulMaskGrad, name(settings.activation));
  const ProductSizes sizes =
      product_sizes(kMatMulMaskGrad, in[0], in[1], settings.transpose_a, settings.transpose_b);
  const Shape c{sizes.rows, sizes.columns};
  check(in[2] == TensorType({c, DType::u8}), Fault::bad_graph,
        "{}: the saved mask is {}, expected is that of {}", kMatMulMaskGrad, to_string(in[2]),
        to_string(c));
  out.push_back({c, in[0].dtype});
}

Work work_matmul_mask_grad(std::span<const TensorType> in, std::span<const TensorType> out,
                           const Attrs& attrs) {
  return {flops_of<MatMulAttrs>(in, attrs) + elements(out[0]), bytes_moved(in, out)};
}

// Where the operands of a MatMulSgdUpdate lie: W, a, b, the parameters, their gradients, the step.
struct SmallUpdate {
  std::size_t tensors, without_gradient;

  explicit SmallUpdate(const SmallUpdateAttrs& attrs)
      : tensors(static_cast<std::size_t>(attrs.tensors)), without_gradient(attrs.bias ? 1 : 0) {}
  std::size_t parameter(std::size_t i) const { return 3 + i; }
  std::size_t gradient(std::size_t i) const { return 3 + tensors + i - without_gradient; }
  std::size_t step() const { return gradient(tensors); }
};

void check_parameters(std::span<const TensorType> in, const SmallUpdate& at, std::int64_t columns,
                      bool bias) {
  if (bias) check_bias(kMatMulSgdUpdate, in[at.parameter(0)], columns, in[0].dtype);
  for (std::size_t i = at.without_gradient; i < at.tensors; ++i) {
    const TensorType& parameter = in[at.parameter(i)];
    check(parameter.dtype == in[0].dtype, Fault::bad_graph, "{}: element types differ, {} and {}",
          kMatMulSgdUpdate, name(in[0].dtype), name(parameter.dtype));
    check_same_type(kMatMulSgdUpdate, parameter, in[at.gradient(i)]);
  }
}

// W {M, N}, a {M, K}, b {K, N}, p_1 ... p_tensors, g_1 ... g_tensors[, step i32{}]
//   -> W - a b, p_1 - g_1, ...[, step + 1]
// With `bias` there is no g_1: it is the column sums of b, and p_1 is {N}. Every gradient, b too,
// carries the rate already.
void infer_matmul_sgd_update(std::span<const TensorType> in, const Attrs& attrs, TypeList& out) {
  const auto& settings = own_attrs<SmallUpdateAttrs>(kMatMulSgdUpdate, attrs);
  constexpr auto kMostTensors = static_cast<std::int64_t>(kMaxInputs - 3);
  check(settings.tensors >= 1 && settings.tensors <= kMostTensors, Fault::bad_graph,
        "{}: tensors must be 1 to {}, got {}", kMatMulSgdUpdate, kMostTensors, settings.tensors);
  check(!settings.bias || !settings.transpose_b, Fault::bad_graph,
        "{}: sums the columns of b only as it is stored", kMatMulSgdUpdate);
  const SmallUpdate at(settings);
  check_arity(kMatMulSgdUpdate, in, at.step() + (settings.advance_step ? 1 : 0));
  const ProductSizes sizes =
      product_sizes(kMatMulSgdUpdate, in[1], in[2], settings.transpose_a, settings.transpose_b);
  check_same_type(kMatMulSgdUpdate, in[0], {{sizes.rows, sizes.columns}, in[1].dtype});
  check_parameters(in, at, sizes.columns, settings.bias);
  if (settings.advance_step) {
    check_same_type(kMatMulSgdUpdate, in[at.step()], {Shape{}, DType::i32});
  }
  out.push_back(in[0]);
  for (std::size_t i = 0; i < at.tensors; ++i) out.push_back(in[at.parameter(i)]);
  if (settings.advance_step) out.push_back(in[at.step()]);
}

int overwrites_all(const Attrs& attrs, std::size_t, std::size_t output) {
  const SmallUpdate at(std::get<SmallUpdateAttrs>(attrs));
  if (output == 0) return 0;
  return static_cast<int>(output <= at.tensors ? at.parameter(output - 1) : at.step());
}

// The product, its difference, the sums, and a difference for each element of the others.
Work work_matmul_sgd_update(std::span<const TensorType> in, std::span<const TensorType> out,
                            const Attrs& attrs) {
  const auto& settings = std::get<SmallUpdateAttrs>(attrs);
  double flops = flops_of<SmallUpdateAttrs>(in.subspan(1), attrs) + elements(in[0]);
  if (settings.bias) flops += elements(in[2]);
  const SmallUpdate at(settings);
  for (std::size_t i = 0; i < at.tensors; ++i) flops += elements(in[at.parameter(i)]);
  return {flops, bytes_moved(in, out)};
}

}  // namespace

extern const OpDef LinearReluMask = {.name = kLinearReluMask,
                                     .infer = infer_linear_relu_mask,
                                     .work = work_linear_relu_mask,
                                     .attrs = MatMulAttrs{.activation = Activation::relu},
                                     .saved_outputs = 0b10};

extern const OpDef MatMulMaskGrad = {.name = kMatMulMaskGrad,
                                     .infer = infer_matmul_mask_grad,
                                     .work = work_matmul_mask_grad,
                                     .attrs = MatMulAttrs{}};

extern const OpDef MatMulSgdUpdate = {.name = kMatMulSgdUpdate,
                                      .infer = infer_matmul_sgd_update,
                                      .work = work_matmul_sgd_update,
                                      .attrs = SmallUpdateAttrs{},
                                      .overwrites = overwrites_all};

}  // namespace stepscope::defs
