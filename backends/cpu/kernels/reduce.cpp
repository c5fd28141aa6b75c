// ReduceSum along one axis. Eigen's sums change bits with the address; these add in an order that
// depends on the shape alone, the same on every instruction set.
// SPDX-License-Identifier: Apache-2.0
#include "backends/eigen/kernels/kernels.h"
#include "backends/eigen/kernels/lanes.h"

namespace stepscope::eigen::STEPSCOPE_EIGEN_ISA {
namespace {

// Rows summed before their sum joins the total: the error grows with this number plus the number of
// blocks, not with their product.
constexpr std::int64_t kBlock = 256;

// x {depth, stride}, its first kWidth columns -> y {kWidth}
template <int kWidth>
void sum_columns(const float* x, std::int64_t depth, std::int64_t stride, float* y) {
  Lanes<kWidth> total = Lanes<kWidth>::Zero();
  for (std::int64_t begin = 0; begin < depth; begin += kBlock) {
    const std::int64_t rows = depth - begin < kBlock ? depth - begin : kBlock;
    Lanes<kWidth> block = Lanes<kWidth>::Zero();
    for (std::int64_t d = 0; d < rows; ++d, x += stride) block += lanes_at<kWidth>(x);
    total += block;
  }
  Map<Lanes<kWidth>> sums(y);
  sums = total;
}

// x {depth, inner} -> y {inner}
void sum_rows(const float* x, std::int64_t depth, std::int64_t inner, float* y) {
  std::int64_t i = 0;
  for (; i + 32 <= inner; i += 32) sum_columns<32>(x + i, depth, inner, y + i);
  for (; i + 8 <= inner; i += 8) sum_columns<8>(x + i, depth, inner, y + i);
  for (; i + 2 <= inner; i += 2) sum_columns<2>(x + i, depth, inner, y + i);
  if (i < inner) sum_columns<1>(x + i, depth, inner, y + i);
}

}  // namespace

// x {outer, depth, inner} -> y {outer, inner}
void ReduceSum(Operands operands, const Axis& site) {
  const auto [outer, depth, inner] = site;
  const float* x = f32(operands, 0);
  float* y = f32(operands, 1);
  for (std::int64_t i = 0; i < outer; ++i) {
    if (inner == 1) {
      y[i] = sum_of(x + i * depth, depth);
    } else {
      sum_rows(x + i * depth * inner, depth, inner, y + i * inner);
    }
  }
}

}  // namespace stepscope::eigen::STEPSCOPE_EIGEN_ISA
