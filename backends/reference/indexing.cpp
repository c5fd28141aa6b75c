// Gather and ScatterAdd: rows of a table, by index.
// SPDX-License-Identifier: Apache-2.0
#include <algorithm>

#include "backends/reference/kernel.h"
#include "backends/reference/sums.h"

namespace stepscope::reference {

// table {R, inner...}, indices i32{N} -> {N, inner...}
template <class T>
void Gather(const Call<T>& call) {
  const std::int64_t inner = call.in_shape(0).elements() / call.in_shape(0)[0];
  const T* table = call.in(0);
  T* out = call.out(0);
  for (std::int64_t n = 0; n < call.in_shape(1)[0]; ++n) {
    std::copy_n(table + call.in_i32(1)[n] * inner, inner, out + n * inner);
  }
}
STEPSCOPE_REFERENCE_KERNEL(Gather)

// updates {N, inner...}, indices i32{N} -> {R, inner...}, each sum in the order of n
template <class T>
void ScatterAdd(const Call<T>& call) {
  const std::int64_t N = call.in_shape(0)[0];
  const std::int64_t R = call.out_shape(0)[0];
  const std::int64_t inner = call.in_shape(0).elements() / N;
  const T* updates = call.in(0);
  const std::int32_t* indices = call.in_i32(1);
  T* out = call.out(0);
  for (std::int64_t r = 0; r < R; ++r) {
    for (std::int64_t first = 0; first < inner; first += kSums) {
      const std::int64_t count = std::min(kSums, inner - first);
      Sums sums{};
      for (std::int64_t n = 0; n < N; ++n) {
        if (indices[n] != r) continue;
        for (std::int64_t j = 0; j < count; ++j) {
          sums[static_cast<std::size_t>(j)] += double{updates[n * inner + first + j]};
        }
      }
      for (std::int64_t j = 0; j < count; ++j) {
        out[r * inner + first + j] = static_cast<T>(sums[static_cast<std::size_t>(j)]);
      }
    }
  }
}
STEPSCOPE_REFERENCE_KERNEL(ScatterAdd)

}  // namespace stepscope::reference
