// Layouts: which ones a convolution wants, and what they mean to the library. Activations are
// row-major or blocked by channels (backends/cpu/layout.h), weights in layouts of the library.
//
// A convolution is asked for under a closed list of layouts in all its directions, and the best sum
// of implementations wins. Microseconds, N = 32, oneDNN 2.6.3, one core with AVX-512 (Sapphire
// Rapids, shared: the best of 15 samples of a probe of single primitives that is not kept; good to
// a third); forward / input gradient / weight gradient. The layouts of x and y; 8c: blocked by 8.
//
//                            row_major  row_major, 16c   nhwc, nhwc     8c, 8c (AVX2)  16c, 16c
//   1 -> 8, 3x3, 24x24       270/-/320  52/-/62          156/-/167      78/-/ref       ref
//   8 -> 16, 3x3, 12x12      404/455/446  66/ref/ref     91/129/83      181/175/154    ref/132/ref
//   1 -> 6, 5x5, 28x28       828/-/783  122/-/150        466/-/339      361/-/ref      ref
//   6 -> 16, 5x5, 14x14      539/578/570  116/ref/ref    179/308/149    ref/444/476    ref/288/ref
//   16 -> 32, 3x3, 14x14     2189/2419/2069              550/581/832    803/805/1082   450/451/494
//   3 -> 32, 3x3, 32x32      1888/-/2710  369/-/385      461/2073/767   696/-/1162     ref
//
// ref stands for plain loops, 20 to 100 times slower. From AVX-512 down to AVX2 the order of the
// implementations is the same; `any` for all three formats gets no better pair, and other ones in
// the three directions.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cstddef>
#include <map>
#include <optional>
#include <string_view>
#include <vector>

#include "backends/api/kernel.h"
#include "backends/onednn/library.h"
#include "graph/plan/layout.h"

namespace stepscope::onednn {

// What the three directions of a convolution agree on.
struct ConvolutionLayouts {
  LayoutId x = LayoutId::row_major;
  LayoutId y = LayoutId::row_major;
  std::array<LayoutId, 3> w{};  // per Direction
};

// The sizes of a convolution op, read from its input types and attributes.
// Requires: the inputs pass the shape rule of `kind`, which is that of a convolution.
Convolution convolution_of(OpKind kind, const Attrs& attrs, std::span<const TensorType> in);
bool is_convolution(OpKind kind);

// The words for activations in layouts x and y under which the library is fastest; without `w`, the
// layout of the weights that it likes best then. Throws unsupported, with the op's name, when it
// has no word for a layout, or no implementation.
ConvolutionFormats best_formats(const Library& library, std::string_view op,
                                const Convolution& site, Direction direction, Bias bias, LayoutId x,
                                LayoutId y, std::optional<LayoutId> w);

class Layouts final : public LayoutChooser {
 public:
  // Requires: the library outlives it.
  Layouts(const Library& library, int threads) : library_(library), threads_(threads) {}

  // Convolutions get what they are fastest with; other ops that take any layout have all inputs in
  // the one that their last blocked input has, so that a gradient comes to where its forward values
  // lie; the rest is row-major.
  LayoutChoice choose(const LayoutRequest& request) override;

  const ConvolutionLayouts& of(const Convolution& site);

 private:
  const Library& library_;
  int threads_;
  std::map<std::array<std::int64_t, 13>, ConvolutionLayouts> known_;
};

// As cpu::output_bytes, with the layouts of weights as well.
std::vector<std::size_t> output_bytes(const OpSite& site);

}  // namespace stepscope::onednn
