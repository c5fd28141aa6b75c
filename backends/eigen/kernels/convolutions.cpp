// Convolutions of one image as products with its columns, in blocks of rows of y whose columns stay
// in the cache. Where the columns are the image itself, none are made.
// SPDX-License-Identifier: Apache-2.0
#include "backends/eigen/kernels/columns.h"
#include "backends/eigen/kernels/kernels.h"
#include "backends/eigen/kernels/library.h"
#include "backends/eigen/kernels/team_of.h"

namespace stepscope::eigen::STEPSCOPE_EIGEN_ISA {
namespace {

using Strided = Eigen::Map<Matrix, 0, Eigen::OuterStride<>>;
using ConstStrided = Eigen::Map<const Matrix, 0, Eigen::OuterStride<>>;

// The sizes of the products: y {O, P}, w {O, K}, columns {K, P}, of which a block has `places`.
struct Sizes {
  std::int64_t O, P, K;
};

Sizes sizes_of(const Convolution& site) {
  return {site.O, site.OH * site.OW, site.C * site.KH * site.KW};
}

// Calls visit(rows of y, first place, places) for each block.
template <class Visit>
void for_each_block(const Convolution& site, Visit visit) {
  for (std::int64_t row = 0; row < site.OH; row += site.rows_per_block) {
    const std::int64_t end =
        row + site.rows_per_block < site.OH ? row + site.rows_per_block : site.OH;
    visit(RowsOfY{row, end}, row * site.OW, (end - row) * site.OW);
  }
}

// Columns of a block, made or found: {K, places} with `stride` from row to row.
ConstStrided columns_of(const Convolution& site, RowsOfY rows, const float* x, float* columns) {
  const std::int64_t K = sizes_of(site).K;
  const std::int64_t places = (rows.end - rows.begin) * site.OW;
  if (site.columns_are_x) {
    return {x + rows.begin * site.OW, K, places, Eigen::OuterStride<>(site.H * site.W)};
  }
  make_columns(site, rows, x, columns);
  return {columns, K, places, Eigen::OuterStride<>(places)};
}

}  // namespace

// x {C, H, W}, w {O, C, KH, KW}[, bias {O}] -> y {O, OH, OW}
void convolve(const Convolution& site, const float* x, const float* w, const float* bias, float* y,
              float* columns) {
  const auto [O, P, K] = sizes_of(site);
  const Map<const Matrix> weights(w, O, K);
  const TeamOf team(1);
  if (bias != nullptr) {
    Map<Rectangle>(y, O, P).colwise() = Map<const Eigen::ArrayXf>(bias, O);
  }
  for_each_block(site, [&](RowsOfY rows, std::int64_t first, std::int64_t places) {
    Strided block(y + first, site.O, places, Eigen::OuterStride<>(site.OH * site.OW));
    if (bias != nullptr) {
      block.noalias() += weights * columns_of(site, rows, x, columns);
    } else {
      block.noalias() = weights * columns_of(site, rows, x, columns);
    }
  });
}

// dy {O, OH, OW}, w {O, C, KH, KW} -> dx {C, H, W}
void convolve_back(const Convolution& site, const float* dy, const float* w, float* dx,
                   float* columns) {
  const auto [O, P, K] = sizes_of(site);
  const Map<const Matrix> weights(w, O, K);
  const TeamOf team(1);
  if (site.columns_are_x) {
    Map<Matrix>(dx, K, P).noalias() = weights.transpose() * Map<const Matrix>(dy, O, P);
    return;
  }
  Map<Row>(dx, site.C * site.H * site.W).setZero();
  for_each_block(site, [&](RowsOfY rows, std::int64_t first, std::int64_t places) {
    const ConstStrided block(dy + first, site.O, places, Eigen::OuterStride<>(site.OH * site.OW));
    Map<Matrix>(columns, weights.cols(), places).noalias() = weights.transpose() * block;
    add_columns(site, rows, columns, dx);
  });
}

// x {C, H, W}, dy {O, OH, OW}, added to dw {O, C, KH, KW}
void add_weight_grad(const Convolution& site, const float* x, const float* dy, float* dw,
                     float* columns) {
  const auto [O, P, K] = sizes_of(site);
  Map<Matrix> weights(dw, O, K);
  const TeamOf team(1);
  for_each_block(site, [&](RowsOfY rows, std::int64_t first, std::int64_t places) {
    const ConstStrided block(dy + first, site.O, places, Eigen::OuterStride<>(site.OH * site.OW));
    weights.noalias() += block * columns_of(site, rows, x, columns).transpose();
  });
}

}  // namespace stepscope::eigen::STEPSCOPE_EIGEN_ISA
