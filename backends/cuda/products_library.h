// products_library: one product, as cuBLASLt has it: descriptors, the algorithm, the call.
//
// The library's matrices are column-major. A row-major matrix {rows, columns} is the same memory as
// a column-major {columns, rows}, so a row-major c = a b is asked for as c^T = b^T a^T: the
// library's A is b, its B is a, and a bias, which runs along a row of c, runs along a column of its
// D, which is where its epilogues want it.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>

#include "backends/cuda/handles.h"
#include "backends/cuda/products.h"

namespace stepscope::cuda {

// What the library does around the product; enumerators say so in the words of row-major c = a b.
enum class Epilogue : std::uint8_t {
  none,
  bias,            // c + bias, the bias {N} added to each row
  bias_relu,       // and what is not above zero becomes zero
  bias_relu_mask,  // and a bit for each element says whether it is above
  mask_gate,       // c where its bit is set, else zero
  b_sums,          // beside c: the column sums {N} of b, {K, N} as it is multiplied
};

// Row-major c {M, N} = a {M, K} b {K, N}, or with `subtracted` w - a b; a transposed operand lies
// in memory as its transpose.
struct Problem {
  std::int64_t M = 0, N = 0, K = 0;
  bool transpose_a = false, transpose_b = false;
  bool subtracted = false;
  Epilogue epilogue = Epilogue::none;
  friend auto operator<=>(const Problem&, const Problem&) = default;
};
std::string to_text(const Problem& problem);  // "7x17x64, a transposed, with a bias": M, K, N

// The algorithm of a product, and the bytes that it works in.
struct Algorithm {
  cublasLtMatmulAlgo_t number{};
  std::size_t workspace = 0;
};

// Addresses of a product; null where it has none.
struct ProductOperands {
  const std::byte *a = nullptr, *b = nullptr;
  const std::byte* w = nullptr;  // what a subtracted product is taken from; may be `c`
  std::byte* c = nullptr;
  std::byte* vector = nullptr;  // the bias, or where the sums go
  std::byte* mask = nullptr;    // written or read: mask_bytes()
  std::byte* workspace = nullptr;
};

// The descriptors of a problem. They live in the object and not in the library: a kernel that is
// made anew at each step allocates nothing there.
class LibraryProduct {
 public:
  LibraryProduct(const Problem& problem, Tf32 tf32);
  LibraryProduct(const LibraryProduct&) = delete;  // the library does not say that they may move
  LibraryProduct& operator=(const LibraryProduct&) = delete;

  // The first that the heuristic offers within what is allowed; nothing: the library has none.
  // `answer`, then: the status of the last refusal, of the heuristic or of an offer that it
  // checked. Throws device when the call fails.
  std::optional<Algorithm> choose(cublasLtHandle_t handle, SplitK split_k, std::string& answer);

  // Requires: addresses are aligned as memory.h promises; the algorithm was chosen for this
  // problem. Serves one stream at a time: addresses of vector and mask stand in the descriptor.
  cublasStatus_t run(cublasLtHandle_t handle, const Algorithm& algorithm,
                     const ProductOperands& operands, cudaStream_t stream) const;

 private:
  // What it takes; nothing: it cannot run, whatever the heuristic says. `why`, then.
  std::optional<Algorithm> checked(cublasLtHandle_t handle, const cublasLtMatmulAlgo_t& offer,
                                   cublasStatus_t& why) const;
  // An address that the descriptor holds.
  struct Pointer {
    cublasLtMatmulDescAttributes_t attribute;
    bool is_used;
    const void* value = nullptr;  // as the descriptor has it
  };
  void point_at(Pointer& pointer, const void* address) const;

  bool subtracted_;
  mutable cublasLtMatmulDescOpaque_t operation_{};
  mutable Pointer vector_, mask_;
  mutable cublasLtMatrixLayoutOpaque_t a_{}, b_{}, c_{};  // of the row-major operands
};

}  // namespace stepscope::cuda
