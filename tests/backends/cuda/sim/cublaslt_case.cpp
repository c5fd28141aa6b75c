// The data, calls and reference of a product.
// SPDX-License-Identifier: Apache-2.0
#include "tests/backends/cuda/sim/cublaslt_case.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>

#include "ops/base/philox.h"

namespace stepscope::cudasim {
namespace {

constexpr float kGap = -12345.0F;  // between the columns; must stay

bool has(const ProductCase& product, std::initializer_list<cublasLtEpilogue_t> epilogues) {
  return std::find(epilogues.begin(), epilogues.end(), product.epilogue) != epilogues.end();
}
bool adds_bias(const ProductCase& product) {
  return has(product, {CUBLASLT_EPILOGUE_BIAS, CUBLASLT_EPILOGUE_RELU_BIAS,
                       CUBLASLT_EPILOGUE_RELU_AUX_BIAS});
}
bool has_relu(const ProductCase& product) {
  return has(product, {CUBLASLT_EPILOGUE_RELU, CUBLASLT_EPILOGUE_RELU_BIAS,
                       CUBLASLT_EPILOGUE_RELU_AUX, CUBLASLT_EPILOGUE_RELU_AUX_BIAS});
}
bool writes_mask(const ProductCase& product) {
  return has(product, {CUBLASLT_EPILOGUE_RELU_AUX, CUBLASLT_EPILOGUE_RELU_AUX_BIAS});
}
bool reads_mask(const ProductCase& product) {
  return has(product, {CUBLASLT_EPILOGUE_DRELU, CUBLASLT_EPILOGUE_DRELU_BGRAD});
}

Stored store(int rows, int columns, int padding, bool rows_first, Philox& random) {
  Stored stored{rows, columns, (rows_first ? columns : rows) + padding, rows_first, {}};
  const int outer = rows_first ? rows : columns;
  stored.data.assign(static_cast<std::size_t>(outer * stored.ld - padding), kGap);
  for (std::size_t i = 0; i < stored.data.size(); ++i) {
    if (!stored.is_gap(i)) stored.data[i] = static_cast<float>(random.uniform(-1, 1));
  }
  return stored;
}

bool bit_of(const std::vector<std::uint8_t>& mask, std::int64_t bit) {
  return (mask[static_cast<std::size_t>(bit / 8)] & (1 << (bit % 8))) != 0;
}

}  // namespace

std::string ProductCase::text() const {
  return fmt::format(
      "m {} n {} k {}, {}{}, {}, epilogue {}, alpha {} beta {}{}, padding {}{}, seed {}", m, n, k,
      transpose_a ? 'T' : 'N', transpose_b ? 'T' : 'N', rows_first ? "rows" : "columns",
      static_cast<int>(epilogue), alpha, beta, in_place ? " in place" : "", padding,
      split ? ", split" : "", seed);
}

ProductData data_of(const ProductCase& product) {
  Philox random(product.seed);
  const auto make = [&](int rows, int columns, bool turned, int padding) {
    return store(turned ? columns : rows, turned ? rows : columns, padding, product.rows_first,
                 random);
  };
  ProductData data;
  const int gap = product.padding;
  data.a = make(product.m, product.k, product.transpose_a, gap);
  data.b = make(product.k, product.n, product.transpose_b, gap == 0 ? 0 : gap + 1);
  data.c = make(product.m, product.n, false, gap == 0 ? 0 : gap + 2);
  data.d = make(product.m, product.n, false, gap == 0 ? 0 : gap + 3);
  if (product.in_place) data.d = data.c;
  const bool over_columns = product.epilogue == CUBLASLT_EPILOGUE_BGRADB;
  data.bias.resize(static_cast<std::size_t>(over_columns ? product.n : product.m));
  for (float& value : data.bias) {
    value = adds_bias(product) ? static_cast<float>(random.uniform(-1, 1))
                               : std::numeric_limits<float>::quiet_NaN();
  }
  data.mask.assign(static_cast<std::size_t>(product.aux_ld() * product.n / 8), 0xCC);
  if (reads_mask(product)) {
    for (std::uint8_t& byte : data.mask) byte = static_cast<std::uint8_t>(random.next_u32());
  }
  if (!product.mask.empty()) data.mask = product.mask;
  return data;
}

Expected expected_of(const ProductCase& product, const ProductData& data) {
  const auto a = [&](int i, int p) {
    return double{product.transpose_a ? data.a.at(p, i) : data.a.at(i, p)};
  };
  const auto b = [&](int p, int j) {
    return double{product.transpose_b ? data.b.at(j, p) : data.b.at(p, j)};
  };
  Expected expected;
  for (int j = 0; j < product.n; ++j) {
    for (int i = 0; i < product.m; ++i) {
      double sum = 0, size = 0;
      for (int p = 0; p < product.k; ++p) {
        sum += a(i, p) * b(p, j);
        size += std::abs(a(i, p) * b(p, j));
      }
      double value = double{product.alpha} * sum;
      size *= std::abs(double{product.alpha});
      if (product.beta != 0) {
        value += double{product.beta} * data.c.at(i, j);
        size += std::abs(double{product.beta} * data.c.at(i, j));
      }
      if (adds_bias(product)) {
        value += data.bias[static_cast<std::size_t>(i)];
        size += std::abs(double{data.bias[static_cast<std::size_t>(i)]});
      }
      if (writes_mask(product)) expected.mask.push_back(value > 0);
      if (has_relu(product)) value = std::max(value, 0.0);
      if (reads_mask(product) && !bit_of(data.mask, j * product.aux_ld() + i)) value = size = 0;
      expected.d.push_back(value);
      expected.magnitudes.push_back(size);
    }
  }
  expected.bias.assign(data.bias.begin(), data.bias.end());
  expected.bias_magnitudes.assign(data.bias.size(), 0);
  const auto sum_up = [&](int length, int over, auto term, auto size) {
    for (int i = 0; i < length; ++i) {
      const auto at = static_cast<std::size_t>(i);
      expected.bias[at] = expected.bias_magnitudes[at] = 0;
      for (int p = 0; p < over; ++p) {
        expected.bias[at] += term(i, p);
        expected.bias_magnitudes[at] += size(i, p);
      }
    }
  };
  const auto of_d = [&](const std::vector<double>& values) {
    return [&](int i, int j) { return values[static_cast<std::size_t>(j * product.m + i)]; };
  };
  switch (product.epilogue) {
    case CUBLASLT_EPILOGUE_BGRADA:
      sum_up(product.m, product.k, a, [&](int i, int p) { return std::abs(a(i, p)); });
      break;
    case CUBLASLT_EPILOGUE_BGRADB:
      sum_up(
          product.n, product.k, [&](int j, int p) { return b(p, j); },
          [&](int j, int p) { return std::abs(b(p, j)); });
      break;
    case CUBLASLT_EPILOGUE_DRELU_BGRAD:
      sum_up(product.m, product.n, of_d(expected.d), of_d(expected.magnitudes));
      break;
    default:
      break;
  }
  return expected;
}

std::string difference(const ProductCase& product, const ProductData& before,
                       const ProductData& after) {
  const Expected expected = expected_of(product, before);
  // One rounding to float of the result; in two halves each half, their sum and the result. The
  // sums in double lose nothing that shows beside it.
  constexpr double kHalfUlp = 0x1p-24;
  const double slack = kHalfUlp * (product.split ? 2.01 : 0);
  const auto wrong = [&](double got, double want, double size) {
    return !(std::abs(got - want) <=
             kHalfUlp * 1.01 * std::abs(want) + slack * size + 1e-14 * size);
  };
  for (std::size_t at = 0; at < after.d.data.size(); ++at) {
    if (before.d.is_gap(at) && after.d.data[at] != before.d.data[at]) {
      return fmt::format("a gap of D was written, element {}", at);
    }
  }
  for (int j = 0; j < product.n; ++j) {
    for (int i = 0; i < product.m; ++i) {
      const auto at = static_cast<std::size_t>(j * product.m + i);
      if (wrong(after.d.at(i, j), expected.d[at], expected.magnitudes[at])) {
        return fmt::format("D({}, {}) is {}, not {}", i, j, after.d.at(i, j), expected.d[at]);
      }
      if (!expected.mask.empty() &&
          bit_of(after.mask, j * product.aux_ld() + i) != expected.mask[at]) {
        return fmt::format("the mask at ({}, {}) is not {}", i, j, bool{expected.mask[at]});
      }
    }
  }
  for (std::size_t i = 0; i < after.bias.size(); ++i) {
    if (std::isnan(expected.bias[i]) && std::isnan(after.bias[i])) continue;
    // D's own rounding is part of a sum over D.
    const double size = expected.bias_magnitudes[i];
    if (!(std::abs(after.bias[i] - expected.bias[i]) <= kHalfUlp * 4 * size + slack * size)) {
      return fmt::format("bias {} is {}, not {}", i, after.bias[i], expected.bias[i]);
    }
  }
  if (expected.mask.empty() && after.mask != before.mask) return "a mask was written";
  return "";
}

}  // namespace stepscope::cudasim
