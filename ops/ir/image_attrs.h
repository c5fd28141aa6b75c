// Attributes of convolutions and pools. Sizes are in elements; h is along H, w along W.
// Padding is the same at both ends. An op that needs only the *size* of a value takes it from here,
// so that it keeps no value alive.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

#include "ops/ir/activation.h"
#include "ops/ir/types.h"

namespace stepscope {

struct Conv2dAttrs {
  std::int64_t stride_h = 1, stride_w = 1;
  std::int64_t pad_h = 0, pad_w = 0;
  Activation activation = Activation::none;  // of Conv2dBias; Conv2d has none
  LayoutId layout = LayoutId::row_major;     // of y
  friend bool operator==(const Conv2dAttrs&, const Conv2dAttrs&) = default;
  template <class Self, class Visit>
  static void fields(Self& self, Visit&& visit) {
    visit("stride_h", self.stride_h);
    visit("stride_w", self.stride_w);
    visit("pad_h", self.pad_h);
    visit("pad_w", self.pad_w);
    visit("activation", self.activation);
    visit("layout", self.layout);
  }
};

// `height`, `width`: H and W of x for the gradient of the input; KH and KW of the kernel for the
// gradient of the weights.
struct Conv2dGradAttrs {
  std::int64_t stride_h = 1, stride_w = 1;
  std::int64_t pad_h = 0, pad_w = 0;
  std::int64_t height = 1, width = 1;
  LayoutId layout = LayoutId::row_major;  // of output 0
  friend bool operator==(const Conv2dGradAttrs&, const Conv2dGradAttrs&) = default;
  template <class Self, class Visit>
  static void fields(Self& self, Visit&& visit) {
    visit("stride_h", self.stride_h);
    visit("stride_w", self.stride_w);
    visit("pad_h", self.pad_h);
    visit("pad_w", self.pad_w);
    visit("height", self.height);
    visit("width", self.width);
    visit("layout", self.layout);
  }
};

// Conv2dWeightUpdate; with `bias_grad` it gives the gradient of the bias as well.
struct Conv2dUpdateAttrs {
  std::int64_t stride_h = 1, stride_w = 1;
  std::int64_t pad_h = 0, pad_w = 0;
  bool bias_grad = false;
  friend bool operator==(const Conv2dUpdateAttrs&, const Conv2dUpdateAttrs&) = default;
  template <class Self, class Visit>
  static void fields(Self& self, Visit&& visit) {
    visit("stride_h", self.stride_h);
    visit("stride_w", self.stride_w);
    visit("pad_h", self.pad_h);
    visit("pad_w", self.pad_w);
    visit("bias_grad", self.bias_grad);
  }
};

struct Pool2dAttrs {
  std::int64_t kernel_h = 2, kernel_w = 2;
  std::int64_t stride_h = 2, stride_w = 2;
  std::int64_t pad_h = 0, pad_w = 0;
  friend bool operator==(const Pool2dAttrs&, const Pool2dAttrs&) = default;
  template <class Self, class Visit>
  static void fields(Self& self, Visit&& visit) {
    visit("kernel_h", self.kernel_h);
    visit("kernel_w", self.kernel_w);
    visit("stride_h", self.stride_h);
    visit("stride_w", self.stride_w);
    visit("pad_h", self.pad_h);
    visit("pad_w", self.pad_w);
  }
};

// `height`, `width`: H and W of x.
struct Pool2dGradAttrs {
  std::int64_t kernel_h = 2, kernel_w = 2;
  std::int64_t stride_h = 2, stride_w = 2;
  std::int64_t pad_h = 0, pad_w = 0;
  std::int64_t height = 1, width = 1;
  friend bool operator==(const Pool2dGradAttrs&, const Pool2dGradAttrs&) = default;
  template <class Self, class Visit>
  static void fields(Self& self, Visit&& visit) {
    visit("kernel_h", self.kernel_h);
    visit("kernel_w", self.kernel_w);
    visit("stride_h", self.stride_h);
    visit("stride_w", self.stride_w);
    visit("pad_h", self.pad_h);
    visit("pad_w", self.pad_w);
    visit("height", self.height);
    visit("width", self.width);
  }
};

}  // namespace stepscope
