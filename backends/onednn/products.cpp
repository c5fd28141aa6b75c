// Products of matrices and what is fused with them. The library's post-operations are left alone:
// its relu takes NaN for 0 or -inf for NaN, by implementation (docs/vocabulary.md has it
// otherwise), so own kernels finish what the product began. Its bias is exact, and used.
// SPDX-License-Identifier: Apache-2.0
#include <utility>
#include <variant>
#include <vector>

#include "backends/onednn/activation.h"
#include "backends/onednn/calls.h"
#include "backends/onednn/lower.h"
#include "ops/base/check.h"

namespace stepscope::onednn {
namespace {

// By one routine or the other. operands: a, b -> c
Step product_step(const Context& context, const OpSite& site, Routine routine,
                  FixedList<int, 6> operands) {
  const Product sizes = product_of(site);
  if (routine == Routine::sgemm) return {sgemm_call(sizes, 1.0F, 0.0F), operands};
  return {primitive_call(context.library.product(sizes, Bias::without)), operands};
}

// x {M, K}, w {K, N}, b {N} -> y {M, N}
void add_linear(const Context& context, const OpSite& site, Routine routine,
                std::vector<Step>& steps) {
  if (routine == Routine::sgemm) {
    steps.push_back({sgemm_call(product_of(site), 1.0F, 0.0F), {0, 1, 3}});
    steps.push_back(own_step(
        context, {OpKind::AddBias, {}, {site.out[0], site.in[2]}, {site.out[0]}}, {3, 2, 3}));
  } else {
    steps.push_back(
        {primitive_call(context.library.product(product_of(site), Bias::with)), {0, 1, 2, 3}});
  }
  add_activation(context, std::get<MatMulAttrs>(site.attrs).activation, site.out[0], 3, steps);
}

// The sums of the columns of b {K, N}, as ReduceSum takes them. operands: b -> sums {N}
Step column_sums(const Context& context, const TensorType& b, const TensorType& sums,
                 FixedList<int, 6> operands) {
  return own_step(context, {OpKind::ReduceSum, ReduceAttrs{0}, {b}, {sums}}, operands);
}

}  // namespace

bool has_choice(OpKind kind) { return is_product(kind) && kind != OpKind::MatMulUpdate; }

bool is_product(OpKind kind) {
  switch (kind) {
    case OpKind::MatMul:
    case OpKind::Linear:
    case OpKind::MatMulReluGrad:
    case OpKind::MatMulBiasGrad:
    case OpKind::MatMulUpdate:
      return true;
    default:
      return false;
  }
}

Product product_of(const OpSite& site) {
  const bool updates = site.kind == OpKind::MatMulUpdate;
  const auto* update = std::get_if<ProductUpdateAttrs>(&site.attrs);
  const auto* plain = std::get_if<MatMulAttrs>(&site.attrs);
  const bool transpose_a = updates ? update->transpose_a : plain->transpose_a;
  const bool transpose_b = updates ? update->transpose_b : plain->transpose_b;
  const Shape& a = site.in[updates ? 1 : 0].shape;
  const Shape& c = site.out[0].shape;
  return {c[0], c[1], a[transpose_a ? 0 : 1], transpose_a, transpose_b};
}

std::unique_ptr<Kernel> lower_product(const Context& context, const OpSite& site, Routine routine) {
  std::vector<Step> steps;
  switch (site.kind) {
    case OpKind::MatMul:
      steps.push_back(product_step(context, site, routine, {0, 1, 2}));
      break;
    case OpKind::Linear:
      add_linear(context, site, routine, steps);
      break;
    case OpKind::MatMulReluGrad:
      steps.push_back(product_step(context, site, routine, {0, 1, 3}));
      steps.push_back(own_step(
          context, {OpKind::ReluGrad, {}, {site.out[0], site.in[2]}, {site.out[0]}}, {3, 2, 3}));
      break;
    case OpKind::MatMulBiasGrad:
      steps.push_back(product_step(context, site, routine, {0, 1, 2}));
      steps.push_back(column_sums(context, site.in[1], site.out[1], {1, 3}));
      break;
    case OpKind::MatMulUpdate:
      steps.push_back({sgemm_call(product_of(site), -1.0F, 1.0F), {1, 2, 3}});
      if (std::get<ProductUpdateAttrs>(site.attrs).bias_grad) {
        steps.push_back(column_sums(context, site.in[2], site.out[1], {2, 4}));
      }
      break;
    default:
      fail(Fault::unsupported, "onednn: {} is no product", name(site.kind));
  }
  return std::make_unique<CallsKernel>(site, context.threads, std::move(steps));
}

}  // namespace stepscope::onednn
