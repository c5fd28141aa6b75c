// The shapes, and the attributes that belong to them.
// SPDX-License-Identifier: Apache-2.0
#include "tests/conformance/image_shapes.h"

#include <fmt/format.h>

#include <array>

namespace stepscope::conformance {

Conv2dAttrs ConvolutionShape::forward(Activation activation) const {
  return {.stride_h = stride_h,
          .stride_w = stride_w,
          .pad_h = pad_h,
          .pad_w = pad_w,
          .activation = activation};
}

Conv2dGradAttrs ConvolutionShape::of_input() const {
  return {.stride_h = stride_h,
          .stride_w = stride_w,
          .pad_h = pad_h,
          .pad_w = pad_w,
          .height = H,
          .width = W};
}

Conv2dGradAttrs ConvolutionShape::of_weights() const {
  Conv2dGradAttrs attrs = of_input();
  attrs.height = KH;
  attrs.width = KW;
  return attrs;
}

std::string ConvolutionShape::name() const {
  return fmt::format("n{}c{}h{}w{}_o{}k{}x{}_s{}x{}_p{}x{}", N, C, H, W, O, KH, KW, stride_h,
                     stride_w, pad_h, pad_w);
}

std::span<const ConvolutionShape> convolution_shapes() {
  static const std::array<ConvolutionShape, 20> shapes = {{
      {1, 1, 1, 1, 1, 1, 1},
      {2, 3, 5, 7, 4, 3, 3},
      {1, 1, 8, 8, 8, 3, 3, 1, 1, 1, 1},
      {2, 8, 7, 9, 16, 3, 3, 1, 1, 1, 1},
      {1, 16, 9, 8, 17, 3, 3, 2, 2, 1, 1},
      {2, 17, 5, 5, 3, 1, 1},
      {3, 16, 6, 6, 16, 1, 1, 2, 2},        // stride larger than kernel: places left out
      {2, 3, 7, 8, 4, 2, 2, 3, 3},          // the same, and not filling the image
      {1, 3, 11, 13, 8, 5, 5, 2, 2, 2, 2},  // padding as wide as a kernel's reach
      {2, 3, 10, 8, 5, 2, 3, 3, 2, 1, 0},   // all different along h and w
      {2, 4, 4, 4, 10, 4, 4},               // kernel as the image: a dense layer
      {1, 2, 3, 3, 2, 5, 5, 1, 1, 1, 1},    // kernel larger than the image
      {1, 2, 5, 5, 3, 3, 3, 1, 1, 2, 2},    // outputs larger than the image
      {2, 1, 1, 10, 3, 1, 3, 1, 1, 0, 1},   // one row
      {2, 2, 12, 1, 3, 3, 1, 2, 1, 1, 0},   // one column
      {1, 3, 3, 70, 2, 3, 3, 1, 1, 1, 1},   // rows longer than a register block
      {1, 2, 2, 140, 3, 1, 3, 1, 2, 0, 1},  // the same, with a stride
      {2, 1, 28, 28, 6, 5, 5, 1, 1, 2, 2},  // first layer of a net for digits
      {1, 32, 8, 8, 32, 3, 3, 1, 1, 1, 1},  // whole vectors all over
      {4, 16, 8, 8, 32, 3, 3, 2, 2, 1, 1},
  }};
  return shapes;
}

Pool2dGradAttrs pool_backward(const Pool2dAttrs& window, std::int64_t height, std::int64_t width) {
  return {.kernel_h = window.kernel_h,
          .kernel_w = window.kernel_w,
          .stride_h = window.stride_h,
          .stride_w = window.stride_w,
          .pad_h = window.pad_h,
          .pad_w = window.pad_w,
          .height = height,
          .width = width};
}

Pool2dGradAttrs PoolShape::backward() const { return pool_backward(window, H, W); }

std::string PoolShape::name() const {
  return fmt::format("n{}c{}h{}w{}_k{}x{}_s{}x{}_p{}x{}", N, C, H, W, window.kernel_h,
                     window.kernel_w, window.stride_h, window.stride_w, window.pad_h, window.pad_w);
}

std::span<const PoolShape> pool_shapes() {
  static const std::array<PoolShape, 13> shapes = {{
      {1, 1, 1, 1, {1, 1, 1, 1, 0, 0}},
      {2, 3, 4, 4, {2, 2, 2, 2, 0, 0}},
      {1, 1, 5, 7, {2, 2, 2, 2, 0, 0}},    // a row and a column left over
      {2, 8, 6, 6, {3, 3, 2, 2, 1, 1}},    // windows overlap
      {1, 16, 7, 7, {3, 3, 1, 1, 1, 1}},   // nine windows over a place
      {2, 17, 5, 9, {3, 2, 1, 3, 1, 0}},   // all different along h and w
      {3, 3, 4, 4, {4, 4, 1, 1, 0, 0}},    // window as the image
      {1, 8, 9, 9, {2, 2, 3, 3, 0, 0}},    // stride larger than kernel: places left out
      {1, 2, 6, 5, {5, 4, 3, 1, 2, 2}},    // much padding
      {1, 4, 2, 2, {3, 3, 2, 2, 1, 1}},    // window larger than the image
      {2, 3, 3, 70, {3, 3, 2, 2, 1, 1}},   // rows longer than a register block
      {2, 1, 28, 28, {2, 2, 2, 2, 0, 0}},  // a net for digits
      {4, 32, 8, 8, {8, 8, 8, 8, 0, 0}},   // one window over all
  }};
  return shapes;
}

}  // namespace stepscope::conformance
