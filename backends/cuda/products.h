// products: MatMul and what is fused around it, through cuBLASLt.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>

#include "backends/api/kernel.h"
#include "backends/cuda/handles.h"

namespace stepscope::cuda {

struct Algorithm;
struct Problem;
class LibraryProduct;

// On: inputs of products may be rounded to TF32. Off by default: CUBLAS_COMPUTE_32F.
enum class Tf32 : std::uint8_t { off, on };

// On: sums over K may be made in several parts, added in a fixed order by way of the workspace. For
// measuring what that would gain; no backend asks for it.
enum class SplitK : std::uint8_t { off, on };

// Of what LinearReluMask saves of y {rows, columns}: a bit for each element, in rows of whole 128
// bits.
std::size_t mask_bytes(std::int64_t rows, std::int64_t columns);

// The library's handle and what all products share. Outlives their kernels.
class Products {
 public:
  explicit Products(Tf32 tf32, SplitK split_k = SplitK::off);
  ~Products();

  // MatMul, Linear, LinearReluMask, MatMulReluGrad, MatMulMaskGrad, MatMulBiasGrad, MatMulUpdate;
  // null for other ops. The workspace
  // is the kernel's scratch. Algorithms are the heuristic's first, asked for once for each problem
  // and kept, so that all modes and all kernels share them.
  //
  // One call of the library each, and one own call behind it for what its epilogues lack: the gate
  // of MatMulReluGrad, tanh and sigmoid of Linear; and column sums, relu with its mask, and the
  // gate by that mask, each where the library has no product with it. Kernel::calls() tells. Throws
  // unsupported for other types than f32, for other layouts than row-major, and where the library
  // has no algorithm.
  std::unique_ptr<Kernel> make(const OpSite& site) const;
  std::string version() const;  // of cuBLASLt, as it is loaded: "13.1.0"

 private:
  std::optional<Algorithm> choose(const Problem& problem, LibraryProduct& product,
                                  std::string& answer) const;

  LtHandle handle_;
  Tf32 tf32_;
  SplitK split_k_;
  // Per problem; nothing: the library has none. Filled where kernels are made, by one thread.
  struct Choices;
  std::unique_ptr<Choices> choices_;
};

}  // namespace stepscope::cuda
