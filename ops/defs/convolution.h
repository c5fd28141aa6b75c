// Shape rules and work of convolutions, for the plain ops and their fused forms.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <span>
#include <string_view>

#include "ops/ir/op_def.h"

namespace stepscope::defs {

// Each throws bad_graph and starts its message with `op`.
void check_image(std::string_view op, const TensorType& type, std::string_view operand);
void check_same_dtype(std::string_view op, const TensorType& a, const TensorType& b);

// One dimension of a window that moves over an image: whole numbers that 32 bits hold, which is
// what libraries take, and sums of which overflow nowhere.
void check_window(std::string_view op, std::int64_t size, std::int64_t kernel, std::int64_t stride,
                  std::int64_t pad);

// x {N, C, H, W}, w {O, C, KH, KW}: the shape of y.
Shape convolved(std::string_view op, const Shape& x, const Shape& w, std::int64_t stride_h,
                std::int64_t stride_w, std::int64_t pad_h, std::int64_t pad_w);

// Check inputs 0 and 1, and append the type of output 0.
void append_conv2d(std::string_view op, std::span<const TensorType> in, const Conv2dAttrs& attrs,
                   TypeList& out);
void append_conv2d_input_grad(std::string_view op, std::span<const TensorType> in,
                              const Conv2dGradAttrs& attrs, TypeList& out);
void append_conv2d_weight_grad(std::string_view op, std::span<const TensorType> in,
                               const Conv2dGradAttrs& attrs, TypeList& out);

double convolution_flops(const Shape& y, const Shape& w);

}  // namespace stepscope::defs
