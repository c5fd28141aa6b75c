// MatMulSgdUpdate: the product of a small weight's update, and the other parameters, in one kernel.
// The one product that is not the library's: its operands fit where a block can hold them, and the
// step is one launch shorter.
//
// The column sums of b are the last row of the product, with a row of ones below a^T. A block takes
// a tile of 32 x 16 results and a share of K; a warp takes every eighth of it, a lane a row of the
// tile. The order of a sum depends on the shape alone: within a warp, the warps, the shares.
//
// What it takes, for W {128, 10} and b1 {128}, the mlp's, at B = K rows of the batch:
//
//                        B = 32                       B = 4096
//   operations           82,560 + 1,418               10,567,680 + 1,418
//   bytes, at least      29,528                       2,272,856
//     a and b            17,664                       2,260,992
//     W, b2, b1, step    11,864                       11,864
//   shares of K          1                            32
//   bytes of partials    0                            327,680 written, 327,680 read
//   blocks               5 tiles + 1                  160 + 1
//
// At B = 32 neither counts: the bound is latency, a chain of launch, one load, three barriers, one
// store; so all loads of a thread are issued before the first is used, W's as well. At B = 4096 it
// is bytes: 4.6 operations a byte, where the least of the devices it is built for can do ten and
// more; so a is read once, in whole lines, and so many blocks read that each has one stretch of it.
// SPDX-License-Identifier: Apache-2.0
#include "backends/cuda/device/operands.h"
#include "backends/cuda/device/run.h"
#include "backends/cuda/device/sums.cuh"
#include "backends/cuda/device/tensors.cuh"
#include "backends/cuda/device/ticket.cuh"
#include "backends/cuda/submission.cuh"

namespace stepscope::cuda {
namespace {

constexpr std::uint32_t kRows = SmallUpdate::kTileRows;        // a lane for each
constexpr std::uint32_t kColumns = SmallUpdate::kTileColumns;  // in the registers of a lane
constexpr std::uint32_t kDepth = SmallUpdate::kDepth;          // of K, at a time
constexpr std::uint32_t kWarps = kThreads / kWarp;
constexpr std::uint32_t kSteps = kDepth / kWarps;             // of K, of a warp
constexpr std::uint32_t kVectors = kColumns / 4;              // of a row of the tile
constexpr std::uint32_t kEach = kRows * kColumns / kThreads;  // results that a thread finishes
static_assert(kRows == kWarp && kDepth % kWarps == 0 && kRows * kColumns % kThreads == 0);

// Which results a block makes, and from what of K.
struct Part {
  std::uint32_t tile, share;              // of how many: numbers.tiles, numbers.shares
  std::uint32_t first_row, first_column;  // of W, and of the sums below it
  std::uint32_t columns;                  // of the tile that W has
  std::uint32_t begin, end;               // of K
};

__device__ Part part_of(const SmallUpdate& numbers) {
  const std::uint32_t tile = blockIdx.x / numbers.shares, share = blockIdx.x % numbers.shares;
  const std::uint32_t across = numbers.tiles_across;
  const std::uint32_t column = tile % across * kColumns, begin = share * numbers.share;
  const std::uint32_t columns = numbers.N - column, depth = numbers.K - begin;
  return {tile,
          share,
          tile / across * kRows,
          column,
          columns < kColumns ? columns : kColumns,
          begin,
          begin + (depth < numbers.share ? depth : numbers.share)};
}

// a {M, K}, with the row of ones below it -> what a lane multiplies at k
__device__ float row_at(const float* a, const SmallUpdate& numbers, std::uint32_t row,
                        std::uint32_t k) {
  if (row < numbers.M) return a[numbers.transpose_a ? k * numbers.M + row : row * numbers.K + k];
  return 1.0f;  // below the sums too, for results that nobody takes
}

// b {K, N}, kDepth rows from k on -> rows {kDepth, kColumns}, zero behind the end and beside W
__device__ void load_rows(const float* b, const SmallUpdate& numbers, const Part& part,
                          std::uint32_t k, float* rows) {
  for (std::uint32_t i = threadIdx.x; i < kDepth * kColumns; i += kThreads) {
    const std::uint32_t at = k + i / kColumns, column = i % kColumns;
    const std::uint32_t n = part.first_column + column;
    rows[i] = at < part.end && column < part.columns
                  ? b[numbers.transpose_b ? n * numbers.K + at : at * numbers.N + n]
                  : 0.0f;
  }
}

// rows {kDepth, kColumns} as vectors -> what a warp adds to its sums {kColumns}; a lane's own row
// is in `mine`.
__device__ void add_products(const float (&mine)[kSteps], const float4* rows, std::uint32_t depth,
                             std::uint32_t columns, float (&sums)[kColumns]) {
  const std::uint32_t warp = threadIdx.x / kWarp;
  UNROLLED for (std::uint32_t s = 0; s < kSteps; ++s) {
    const std::uint32_t k = warp + s * kWarps;
    if (k >= depth) continue;
    UNROLLED for (std::uint32_t v = 0; v < kVectors; ++v) {
      if (4 * v >= columns) continue;
      const float4 b = rows[k * kVectors + v];
      sums[4 * v] += mine[s] * b.x;
      sums[4 * v + 1] += mine[s] * b.y;
      sums[4 * v + 2] += mine[s] * b.z;
      sums[4 * v + 3] += mine[s] * b.w;
    }
  }
}

// W {M, N}, and below it the parameter {N} that takes the column sums
struct Results {
  float *w, *bias;

  template <class Visit>
  void each_address(Visit visit) const {
    visit(w);
    visit(bias);
  }
};

// Where the i-th result goes that this thread finishes; null: there is none.
__device__ float* result_at(const Results& to, const SmallUpdate& numbers, const Part& part,
                            std::uint32_t i) {
  const std::uint32_t at = i * kThreads + threadIdx.x;
  const std::uint32_t row = part.first_row + at / part.columns;
  const std::uint32_t column = part.first_column + at % part.columns;
  if (at >= kRows * part.columns || row >= numbers.rows) return nullptr;
  return row < numbers.M ? to.w + row * numbers.N + column : to.bias + column;
}

// Of each of the warps: {kColumns, kRows}, and one more, so that columns lie in several banks.
using WarpSums = float[kWarps][kColumns][kRows + 1];

__device__ float total_of_warps(const WarpSums& sums, const Part& part, std::uint32_t i) {
  const std::uint32_t at = i * kThreads + threadIdx.x;
  float total = 0.0f;
  if (at >= kRows * part.columns) return total;
  for (std::uint32_t warp = 0; warp < kWarps; ++warp) {
    total += sums[warp][at % part.columns][at / part.columns];
  }
  return total;
}

// Leaves the block's part of the sums in partial {tiles, shares, kEach, kThreads}. True in all
// threads of the last block of a tile, where `totals` are then the whole sums.
__device__ bool meet(float (&totals)[kEach], float* partial, const SmallUpdate& numbers,
                     const Part& part, int* last) {
  float* of_tile = partial + part.tile * numbers.shares * kEach * kThreads + threadIdx.x;
  for (std::uint32_t i = 0; i < kEach; ++i) {
    of_tile[(part.share * kEach + i) * kThreads] = totals[i];
  }
  __syncthreads();
  if (threadIdx.x == 0) last[0] = drew_last(numbers.ticket + part.tile, numbers.shares) ? 1 : 0;
  __syncthreads();
  if (last[0] == 0) return false;
  UNROLLED for (std::uint32_t i = 0; i < kEach; ++i) {
    totals[i] = 0.0f;
    for (std::uint32_t share = 0; share < numbers.shares; ++share) {
      totals[i] += of_tile[(share * kEach + i) * kThreads];
    }
  }
  return true;
}

// a {M, K}, b {K, N} -> W {M, N} - a b, bias {N} - the column sums of b, by the first
// tiles * shares blocks; partial {tiles, shares, kEach, kThreads}, where there are several shares
__device__ void update_product(const float* a, const float* b, const Results& to, float* partial,
                               const SmallUpdate& numbers) {
  SHARED_ARRAY(float4, rows, [kDepth * kVectors]);
  SHARED_ARRAY(WarpSums, warps, [1]);
  SHARED_ARRAY(int, last, [1]);
  const Part part = part_of(numbers);
  const std::uint32_t lane = threadIdx.x % kWarp, warp = threadIdx.x / kWarp;
  float old[kEach] = {}, totals[kEach], sums[kColumns] = {};
  UNROLLED for (std::uint32_t i = 0; i < kEach; ++i) {
    const float* at = result_at(to, numbers, part, i);
    if (numbers.shares == 1 && at != nullptr) old[i] = *at;
  }
  for (std::uint32_t k = part.begin; k < part.end; k += kDepth) {
    float mine[kSteps];
    UNROLLED for (std::uint32_t s = 0; s < kSteps; ++s) {
      const std::uint32_t at = k + warp + s * kWarps;
      mine[s] = at < part.end ? row_at(a, numbers, part.first_row + lane, at) : 0.0f;
    }
    load_rows(b, numbers, part, k, reinterpret_cast<float*>(rows));
    __syncthreads();
    add_products(mine, rows, part.end - k, part.columns, sums);
    __syncthreads();
  }
  UNROLLED for (std::uint32_t c = 0; c < kColumns; ++c) warps[0][warp][c][lane] = sums[c];
  __syncthreads();
  UNROLLED for (std::uint32_t i = 0; i < kEach; ++i) totals[i] = total_of_warps(warps[0], part, i);
  if (numbers.shares > 1 && !meet(totals, partial, numbers, part, last)) return;
  UNROLLED for (std::uint32_t i = 0; i < kEach; ++i) {
    float* at = result_at(to, numbers, part, i);
    if (at != nullptr) *at = (numbers.shares == 1 ? old[i] : *at) - totals[i];
  }
}

// The tensors are {n} each; step {} is null where another op counts.
__global__ void __launch_bounds__(kThreads)
    small_update(const float* a, const float* b, Results to, const __grid_constant__ Tensors others,
                 int* step, float* partial, const __grid_constant__ SmallUpdate numbers) {
  count_step(step);
  if (blockIdx.x < numbers.tiles * numbers.shares) {
    update_product(a, b, to, partial, numbers);
  } else {
    update(others, ScaledSgd{});
  }
}

}  // namespace

// W, a, b, p..., g...[, step] -> W - a b, (p - g)...[, step + 1]; the first p may be the bias, and
// has no g then
cudaError_t run_small_update(Submission& to, Operands operands, std::byte* scratch,
                             const SmallUpdate& numbers) {
  const int sums = numbers.bias ? 1 : 0;
  const int results = 3 + 2 * numbers.tensors - sums + (numbers.advance_step ? 1 : 0);
  std::uint32_t blocks = numbers.tiles * numbers.shares;
  Tensors others{};
  for (int t = sums; t < numbers.tensors; ++t) {
    const int g = 3 + numbers.tensors + t - sums;
    others.of[others.count++] = {at(operands, results + 1 + t),
                                 at<const float>(operands, g),
                                 nullptr,
                                 nullptr,
                                 numbers.elements[t],
                                 blocks};
    blocks += blocks_for(numbers.elements[t], kChunk);
  }
  const Results product{at(operands, results), numbers.bias ? at(operands, results + 1) : nullptr};
  int* step = numbers.advance_step ? at<int>(operands, results + 1 + numbers.tensors) : nullptr;
  return submit(to, blocks, kThreads, 0, small_update, at<const float>(operands, 1),
                at<const float>(operands, 2), product, others, step, at(&scratch, 0), numbers);
}

}  // namespace stepscope::cuda
