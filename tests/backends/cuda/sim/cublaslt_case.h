// A product for the simulated cuBLASLt: its data, the calls as a user writes them, and what must
// come out, computed here in double from the definition alone.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cublasLt.h>
#include <cuda_runtime_api.h>

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

namespace stepscope::cudasim {

struct ProductCase {
  int m = 1, n = 1, k = 1;
  bool transpose_a = false, transpose_b = false;
  bool rows_first = false;  // CUBLASLT_ORDER_ROW
  cublasLtEpilogue_t epilogue = CUBLASLT_EPILOGUE_DEFAULT;
  float alpha = 1, beta = 0;
  bool in_place = false;           // C is D
  int padding = 0;                 // elements between columns, different for each matrix
  bool split = false;              // the algorithm that needs a workspace
  std::uint64_t seed = 1;          // of the data
  std::vector<std::uint8_t> mask;  // for DRELU; empty: drawn. Bit column * aux_ld + row

  std::int64_t aux_ld() const { return (m + 127) / 128 * 128 + (padding != 0 ? 128 : 0); }
  std::string text() const;
};

// A matrix as it is stored: `count` floats with gaps, which hold a value of their own.
struct Stored {
  int rows = 0, columns = 0, ld = 0;
  bool rows_first = false;
  std::vector<float> data;

  std::size_t index(int row, int column) const {
    return static_cast<std::size_t>(rows_first ? row * ld + column : column * ld + row);
  }
  float at(int row, int column) const { return data[index(row, column)]; }
  bool is_gap(std::size_t at) const {
    return at % static_cast<std::size_t>(ld) >=
           static_cast<std::size_t>(rows_first ? columns : rows);
  }
};

struct ProductData {
  Stored a, b, c, d;
  std::vector<float> bias;         // in, or NaN where a gradient goes
  std::vector<std::uint8_t> mask;  // in, or 0xCC where it goes
};
ProductData data_of(const ProductCase& product);

struct Expected {
  std::vector<double> d;           // {n, m}, column by column
  std::vector<double> magnitudes;  // of the terms of each element: bounds what a float can lose
  std::vector<double> bias;        // gradient, or the bias unchanged
  std::vector<double> bias_magnitudes;
  std::vector<bool> mask;  // {n, m}; empty: none is written
};
Expected expected_of(const ProductCase& product, const ProductData& data);

// Runs it through the library: descriptors, heuristic, product, copies back. The status of the
// first call that failed; `data` is what memory holds afterwards.
cublasStatus_t run_product(const ProductCase& product, ProductData& data);

// "" or the first difference, as one line.
std::string difference(const ProductCase& product, const ProductData& before,
                       const ProductData& after);

}  // namespace stepscope::cudasim
