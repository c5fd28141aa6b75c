// matmul: panels of double, tiles of registers, then the epilogue column by column.
// SPDX-License-Identifier: Apache-2.0
#include "backends/cuda/sim/matmul.h"

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstring>
#include <limits>
#include <vector>

namespace stepscope::cudasim {
namespace {

constexpr std::int64_t kTileRows = 4,
                       kTileColumns = 4;  // 16 sums fit the registers of SSE2, nearly

// The factors as double, tile by tile: {tiles, k, 4}, zero beyond the last row or column.
std::vector<double> packed(const MatrixView& view, std::int64_t length, std::int64_t k, bool rows) {
  const std::int64_t tiles = (length + kTileRows - 1) / kTileRows;
  std::vector<double> panel(static_cast<std::size_t>(tiles * k * kTileRows), 0.0);
  for (std::int64_t i = 0; i < length; ++i) {
    double* to = panel.data() + (i / kTileRows) * k * kTileRows + i % kTileRows;
    for (std::int64_t p = 0; p < k; ++p) {
      to[p * kTileRows] = rows ? view.at(i, p) : view.at(p, i);
    }
  }
  return panel;
}

// a {k, 4}, b {k, 4} -> sums {4 columns, 4 rows}, over k from `from` to `to`.
void tile(const double* a, const double* b, std::int64_t from, std::int64_t to,
          double (&sums)[kTileColumns][kTileRows]) {
  double local[kTileColumns][kTileRows] = {};
  for (std::int64_t p = from; p < to; ++p) {
    const double* left = a + p * kTileRows;
    const double* right = b + p * kTileColumns;
    for (int j = 0; j < kTileColumns; ++j) {
      for (int i = 0; i < kTileRows; ++i) local[j][i] += left[i] * right[j];
    }
  }
  std::memcpy(sums, local, sizeof local);
}

// op(A) * op(B) over k from `from` to `to`, {n, m}.
void add_up(const Product& product, const std::vector<double>& a, const std::vector<double>& b,
            std::int64_t from, std::int64_t to, std::vector<double>& sums) {
  const auto [m, n, k] = std::array{product.m, product.n, product.k};
  double block[kTileColumns][kTileRows];
  for (std::int64_t column = 0; column < n; column += kTileColumns) {
    for (std::int64_t row = 0; row < m; row += kTileRows) {
      tile(a.data() + row * k, b.data() + column * k, from, to, block);
      for (std::int64_t j = column; j < std::min(column + kTileColumns, n); ++j) {
        for (std::int64_t i = row; i < std::min(row + kTileRows, m); ++i) {
          sums[static_cast<std::size_t>(j * m + i)] = block[j - column][i - row];
        }
      }
    }
  }
}

// Partial sums are floats in the workspace, as on a device; the workspace is left as NaN.
void add_up_split(const Product& product, const std::vector<double>& a,
                  const std::vector<double>& b, std::vector<double>& sums) {
  const std::size_t count = sums.size();
  const std::int64_t half = product.k / 2;
  for (int part = 0; part < 2; ++part) {
    add_up(product, a, b, part * half, part == 0 ? half : product.k, sums);
    float* partial = product.workspace + static_cast<std::size_t>(part) * count;
    std::transform(sums.begin(), sums.end(), partial, [](double sum) { return float(sum); });
  }
  for (std::size_t i = 0; i < count; ++i) {
    sums[i] = product.workspace[i] + product.workspace[count + i];
  }
  std::fill_n(product.workspace, 2 * count, std::numeric_limits<float>::quiet_NaN());
}

bool mask_bit(const Epilogue& epilogue, std::int64_t row, std::int64_t column) {
  const std::int64_t bit = column * epilogue.aux_ld + row;
  return (epilogue.aux[bit / 8] >> (bit % 8) & 1) != 0;
}

// The bits beyond the last row are written as well: what they hold is nobody's business.
void write_mask(const Product& product, const float* values, std::int64_t column) {
  const Epilogue& epilogue = product.epilogue;
  std::uint8_t* bytes = epilogue.aux + column * epilogue.aux_ld / 8;
  std::memset(bytes, 0xFF, static_cast<std::size_t>(epilogue.aux_ld / 8));
  for (std::int64_t row = 0; row < product.m; ++row) {
    if (!(values[row] > 0)) bytes[row / 8] &= static_cast<std::uint8_t>(~(1U << (row % 8)));
  }
}

// One element of D. NaN passes through the ReLU, so that memory nobody wrote shows in the result.
float finished(const Product& product, double sum, std::int64_t row, std::int64_t column) {
  const Epilogue& epilogue = product.epilogue;
  double value = product.alpha * sum;
  if (product.beta != 0) value += double{product.beta} * product.c.at(row, column);
  if (epilogue.bias) value += epilogue.bias_data[row];
  if (epilogue.relu_gradient && !mask_bit(epilogue, row, column)) value = 0;
  if (epilogue.relu && value <= 0) value = 0;
  return static_cast<float>(value);
}

void finish(const Product& product, const std::vector<double>& sums) {
  std::vector<float> values(static_cast<std::size_t>(product.m));
  for (std::int64_t column = 0; column < product.n; ++column) {
    for (std::int64_t row = 0; row < product.m; ++row) {
      const double sum = sums[static_cast<std::size_t>(column * product.m + row)];
      values[static_cast<std::size_t>(row)] = finished(product, sum, row, column);
    }
    if (product.epilogue.mask) write_mask(product, values.data(), column);
    for (std::int64_t row = 0; row < product.m; ++row) {
      product.d.at(row, column) = values[static_cast<std::size_t>(row)];
    }
  }
}

// Sums of the rows of {rows, columns}.
void sum_rows(const MatrixView& view, std::int64_t rows, std::int64_t columns, float* to) {
  std::vector<double> sums(static_cast<std::size_t>(rows), 0.0);
  for (std::int64_t column = 0; column < columns; ++column) {
    for (std::int64_t row = 0; row < rows; ++row) {
      sums[static_cast<std::size_t>(row)] += view.at(row, column);
    }
  }
  std::transform(sums.begin(), sums.end(), to, [](double sum) { return float(sum); });
}

void write_bias_gradient(const Product& product) {
  float* to = product.epilogue.bias_data;
  const MatrixView b_transposed{product.b.data, product.b.column_step, product.b.row_step};
  switch (product.epilogue.bias_gradient) {
    case BiasGradient::none:
      return;
    case BiasGradient::of_a:
      return sum_rows(product.a, product.m, product.k, to);
    case BiasGradient::of_b:
      return sum_rows(b_transposed, product.n, product.k, to);
    case BiasGradient::of_d:
      return sum_rows(product.d, product.m, product.n, to);
  }
}

}  // namespace

void multiply(const Product& product) {
  const std::vector<double> a = packed(product.a, product.m, product.k, true);
  const std::vector<double> b = packed(product.b, product.n, product.k, false);
  std::vector<double> sums(static_cast<std::size_t>(product.m * product.n));
  if (product.workspace != nullptr) {
    add_up_split(product, a, b, sums);
  } else {
    add_up(product, a, b, 0, product.k, sums);
  }
  finish(product, sums);
  write_bias_gradient(product);
}

}  // namespace stepscope::cudasim
