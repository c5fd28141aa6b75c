// Batches: the order of an epoch, how it is cut, and the copies that a step reads.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

#include "bench/data/dataset.h"

namespace stepscope {

// The order of the rows in epoch `epoch` (from 0): Philox(seed, kEpochStream + epoch).permutation.
// It hangs on nothing else, so anybody can rebuild the order of any epoch alone. The offset keeps
// epochs away from the streams of the parameters, which count from 0 (ops/models/model.h).
// Requires: count fits 32 bits, as any count in an IDX header does.
std::vector<std::uint32_t> epoch_order(std::int64_t count, std::uint64_t seed, std::uint64_t epoch);
inline constexpr std::uint64_t kEpochStream = std::uint64_t{1} << 32;

// 0, 1, ... count - 1: validation and test.
std::vector<std::uint32_t> file_order(std::int64_t count);

// SHA-256 of the rows, 32-bit little-endian each.
Digest digest(std::span<const std::uint32_t> order);

// What becomes of the rows that fill no whole batch.
enum class PartialBatch : std::uint8_t {
  drop,         // left out of this epoch; the next order may have them elsewhere
  second_plan,  // a smaller batch at the end, run by a plan of its own size
  pad_masked,   // a whole batch at the end: rows of zeros fill it, with the label kPaddingLabel
};
inline constexpr std::int32_t kPaddingLabel = -1;  // a row that no loss and no gradient sees
std::string_view name(PartialBatch policy);
// Throws bad_input, with the nearest name.
PartialBatch parse_partial_batch(std::string_view text);

// One batch: places [first, first + rows) of an order.
struct BatchRange {
  std::int64_t first = 0;
  std::int64_t rows = 0;
  friend bool operator==(const BatchRange&, const BatchRange&) = default;
};

// The batches of an epoch over `count` rows, in order; `rows` are the real ones, also where padding
// follows. Throws bad_input, with both numbers, for a batch below 1 or above the count.
std::vector<BatchRange> epoch_batches(std::int64_t count, std::int64_t batch, PartialBatch policy);

// The same as numbers.
struct EpochCounts {
  std::int64_t steps = 0;
  std::int64_t samples_seen = 0;     // real rows; padding is none
  std::int64_t samples_dropped = 0;  // seen and dropped make the count
  friend bool operator==(const EpochCounts&, const EpochCounts&) = default;
};
// A batch above the count is one partial batch. Throws bad_input for a batch below 1.
EpochCounts epoch_counts(std::int64_t count, std::int64_t batch, PartialBatch policy);

// Copies rows out of a view, ready for a step: pixels as f32 in [0, 1], labels as they are.
// Allocates nothing. Requires: the data outlive it.
class Batcher {
 public:
  explicit Batcher(DatasetView data) : data_(data) {}

  const DatasetView& data() const { return data_; }

  // x {rows, features}: f32 pixels as they are, bytes as pixel / 255, correctly rounded, as NumPy's
  // float32 division gives it;
  // labels {rows}, or empty: x alone. Throws bad_input when a span has another size or a row is not
  // in the data; then x and labels hold some rows of the batch and not others.
  void fill(std::span<const std::uint32_t> rows, std::span<float> x,
            std::span<std::int32_t> labels) const;
  // The same where x and labels have room for more rows: those behind get zeros and kPaddingLabel.
  void fill_padded(std::span<const std::uint32_t> rows, std::span<float> x,
                   std::span<std::int32_t> labels) const;

 private:
  DatasetView data_;
};

}  // namespace stepscope
