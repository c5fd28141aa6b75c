// Shapes of convolutions and pools that find bugs: channels around vector widths, odd sizes,
// strides that leave places out, kernels of one place and of the whole image.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <span>
#include <string>

#include "ops/ir/attrs.h"
#include "ops/ir/types.h"

namespace stepscope::conformance {

struct ConvolutionShape {
  std::int64_t N, C, H, W, O, KH, KW;
  std::int64_t stride_h = 1, stride_w = 1, pad_h = 0, pad_w = 0;

  std::int64_t OH() const { return (H + 2 * pad_h - KH) / stride_h + 1; }
  std::int64_t OW() const { return (W + 2 * pad_w - KW) / stride_w + 1; }
  Shape x() const { return {N, C, H, W}; }
  Shape w() const { return {O, C, KH, KW}; }
  Shape y() const { return {N, O, OH(), OW()}; }
  Conv2dAttrs forward(Activation activation = Activation::none) const;
  Conv2dGradAttrs of_input() const;
  Conv2dGradAttrs of_weights() const;
  std::string name() const;  // n2c3h5w7_o4k3x3_s1x1_p0x0
};
std::span<const ConvolutionShape> convolution_shapes();

struct PoolShape {
  std::int64_t N, C, H, W;
  Pool2dAttrs window;

  std::int64_t OH() const { return (H + 2 * window.pad_h - window.kernel_h) / window.stride_h + 1; }
  std::int64_t OW() const { return (W + 2 * window.pad_w - window.kernel_w) / window.stride_w + 1; }
  Shape x() const { return {N, C, H, W}; }
  Shape y() const { return {N, C, OH(), OW()}; }
  Pool2dGradAttrs backward() const;
  std::string name() const;  // n2c3h5w7_k2x2_s2x2_p0x0
};
std::span<const PoolShape> pool_shapes();

// Of the same window on an image of height and width.
Pool2dGradAttrs pool_backward(const Pool2dAttrs& window, std::int64_t height, std::int64_t width);

}  // namespace stepscope::conformance
