// Convolutions, what is fused with them, and reorders of their weights. Activations are own
// kernels, as in products.cpp; the library adds the bias and sums its gradient.
// SPDX-License-Identifier: Apache-2.0
#include <utility>
#include <variant>
#include <vector>

#include "backends/cpu/layout.h"
#include "backends/onednn/activation.h"
#include "backends/onednn/calls.h"
#include "backends/onednn/layouts.h"
#include "backends/onednn/lower.h"
#include "ops/base/check.h"

namespace stepscope::onednn {
namespace {

// x, w[, b] -> y
void add_forward(const Context& context, const OpSite& site, std::vector<Step>& steps) {
  const Bias bias = site.in.size() == 3 ? Bias::with : Bias::without;
  const int y = static_cast<int>(site.in.size());
  const Convolution sizes = convolution_of(site.kind, site.attrs, site.in);
  const ConvolutionFormats formats =
      best_formats(context.library, name(site.kind), sizes, Direction::forward, bias,
                   site.in[0].layout, site.out[0].layout, site.in[1].layout);
  FixedList<int, 6> operands = {0, 1};
  if (bias == Bias::with) operands.push_back(2);
  operands.push_back(y);
  steps.push_back(
      {primitive_call(context.library.convolution(sizes, Direction::forward, bias, formats)),
       operands});
  add_activation(context, std::get<Conv2dAttrs>(site.attrs).activation, site.out[0], y, steps);
}

// dy, w[, y of the relu in front] -> dx
void add_input_grad(const Context& context, const OpSite& site, std::vector<Step>& steps) {
  const int dx = static_cast<int>(site.in.size());
  const Convolution sizes = convolution_of(site.kind, site.attrs, site.in);
  const ConvolutionFormats formats =
      best_formats(context.library, name(site.kind), sizes, Direction::input_grad, Bias::without,
                   site.out[0].layout, site.in[0].layout, site.in[1].layout);
  steps.push_back({primitive_call(context.library.convolution(sizes, Direction::input_grad,
                                                              Bias::without, formats)),
                   {0, 1, dx}});
  if (site.kind == OpKind::Conv2dInputReluGrad) {
    steps.push_back(own_step(
        context, {OpKind::ReluGrad, {}, {site.out[0], site.in[2]}, {site.out[0]}}, {dx, 2, dx}));
  }
}

// x, dy -> dw[, db]
void add_weight_grad(const Context& context, const OpSite& site, std::vector<Step>& steps) {
  const Bias bias = site.out.size() == 2 ? Bias::with : Bias::without;
  const Convolution sizes = convolution_of(site.kind, site.attrs, site.in);
  const ConvolutionFormats formats =
      best_formats(context.library, name(site.kind), sizes, Direction::weight_grad, bias,
                   site.in[0].layout, site.in[1].layout, site.out[0].layout);
  FixedList<int, 6> operands = {0, 1, 2};
  if (bias == Bias::with) operands.push_back(3);
  steps.push_back(
      {primitive_call(context.library.convolution(sizes, Direction::weight_grad, bias, formats)),
       operands});
}

// W, x, dy -> W - dw[, db]: dw lies between the calls, in the layout that the library likes best.
std::size_t add_weight_update(const Context& context, const OpSite& site,
                              std::vector<Step>& steps) {
  const Bias bias = site.out.size() == 2 ? Bias::with : Bias::without;
  const Convolution sizes = convolution_of(site.kind, site.attrs, site.in);
  const ConvolutionFormats formats =
      best_formats(context.library, name(site.kind), sizes, Direction::weight_grad, bias,
                   site.in[1].layout, site.in[2].layout, std::nullopt);
  FixedList<int, 6> operands = {1, 2, kBetween};
  if (bias == Bias::with) operands.push_back(4);
  steps.push_back(
      {primitive_call(context.library.convolution(sizes, Direction::weight_grad, bias, formats)),
       operands});
  steps.push_back({subtract_call(site.in[0].shape, *formats.w), {kBetween, 3}});
  return weight_bytes(site.in[0].shape, *formats.w);
}

}  // namespace

std::unique_ptr<Kernel> lower_convolution(const Context& context, const OpSite& site) {
  std::vector<Step> steps;
  std::size_t between = 0;
  switch (site.kind) {
    case OpKind::Conv2d:
    case OpKind::Conv2dBias:
      add_forward(context, site, steps);
      break;
    case OpKind::Conv2dInputGrad:
    case OpKind::Conv2dInputReluGrad:
      add_input_grad(context, site, steps);
      break;
    case OpKind::Conv2dWeightGrad:
    case OpKind::Conv2dWeightBiasGrad:
      add_weight_grad(context, site, steps);
      break;
    case OpKind::Conv2dWeightUpdate:
      between = add_weight_update(context, site, steps);
      break;
    default:
      fail(Fault::unsupported, "onednn: {} is no convolution", name(site.kind));
  }
  return std::make_unique<CallsKernel>(site, context.threads, std::move(steps), between);
}

std::unique_ptr<Kernel> lower_reorder(const Context& context, const OpSite& site) {
  const LayoutId from = site.in[0].layout, to = site.out[0].layout;
  if (!is_weight_layout(from) && !is_weight_layout(to)) return cpu::make_kernel(site, context.isa);
  const Shape& shape = site.in[0].shape;
  const auto plain = LayoutId::row_major;
  const bool one_step =
      is_weight_layout(from) ? to == plain || is_weight_layout(to) : from == plain;
  std::vector<Step> steps;
  if (one_step) {
    steps.push_back({primitive_call(context.library.reorder(shape, from, to)), {0, 1}});
    return std::make_unique<CallsKernel>(site, context.threads, std::move(steps));
  }
  // Weights that are read as an image, or the other way round: nobody knows both layouts, so by way
  // of the plain one.
  const auto own = [&](LayoutId of, LayoutId as) {
    return own_call(cpu::make_body(
        {OpKind::Reorder, ReorderAttrs{as}, {{shape, DType::f32, of}}, {{shape, DType::f32, as}}},
        context.isa));
  };
  if (is_weight_layout(from)) {
    steps.push_back({primitive_call(context.library.reorder(shape, from, plain)), {0, kBetween}});
    steps.push_back({own(plain, to), {kBetween, 1}});
  } else {
    steps.push_back({own(from, plain), {0, kBetween}});
    steps.push_back({primitive_call(context.library.reorder(shape, plain, to)), {kBetween, 1}});
  }
  return std::make_unique<CallsKernel>(site, context.threads, std::move(steps),
                                       TensorType{shape}.bytes());
}

}  // namespace stepscope::onednn
