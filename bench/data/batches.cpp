// Orders, ranges and copies of batches.
// SPDX-License-Identifier: Apache-2.0
#include "bench/data/batches.h"

#include <algorithm>
#include <array>
#include <limits>
#include <numeric>
#include <string>

#include "ops/base/check.h"
#include "ops/base/nearest.h"
#include "ops/base/philox.h"

namespace stepscope {
namespace {

constexpr std::array kPolicies{PartialBatch::drop, PartialBatch::second_plan,
                               PartialBatch::pad_masked};

std::uint32_t to_count32(std::int64_t count) {
  check(count >= 0 && count <= std::numeric_limits<std::uint32_t>::max(), Fault::bad_input,
        "order of {} rows: expected 0 to 4294967295", count);
  return static_cast<std::uint32_t>(count);
}

}  // namespace

std::vector<std::uint32_t> epoch_order(std::int64_t count, std::uint64_t seed,
                                       std::uint64_t epoch) {
  return Philox(seed, kEpochStream + epoch).permutation(to_count32(count));
}

std::vector<std::uint32_t> file_order(std::int64_t count) {
  std::vector<std::uint32_t> order(to_count32(count));
  std::iota(order.begin(), order.end(), 0U);
  return order;
}

Digest digest(std::span<const std::uint32_t> order) {
  Sha256 hash;
  hash.update(order);
  return hash.finish();
}

std::string_view name(PartialBatch policy) {
  switch (policy) {
    case PartialBatch::drop:
      return "drop";
    case PartialBatch::second_plan:
      return "second_plan";
    case PartialBatch::pad_masked:
      return "pad_masked";
  }
  return "unknown policy";
}

PartialBatch parse_partial_batch(std::string_view text) {
  std::vector<std::string> names;
  for (const PartialBatch policy : kPolicies) {
    if (text == name(policy)) return policy;
    names.emplace_back(name(policy));
  }
  fail(Fault::bad_input, "{}", unknown_name("partial-batch policy", text, names));
}

std::vector<BatchRange> epoch_batches(std::int64_t count, std::int64_t batch, PartialBatch policy) {
  check(batch >= 1, Fault::bad_input, "batch of {} rows: expected 1 or more", batch);
  check(batch <= count, Fault::bad_input,
        "batch of {} rows is larger than the set of {}: use a batch of at most {}", batch, count,
        count);
  std::vector<BatchRange> batches;
  for (std::int64_t first = 0; first < count; first += batch) {
    const std::int64_t rows = std::min(batch, count - first);
    if (rows < batch && policy == PartialBatch::drop) break;
    batches.push_back({first, rows});
  }
  return batches;
}

EpochCounts epoch_counts(std::int64_t count, std::int64_t batch, PartialBatch policy) {
  check(batch >= 1, Fault::bad_input, "batch of {} rows: expected 1 or more", batch);
  const std::int64_t rest = count % batch;
  if (policy == PartialBatch::drop) return {count / batch, count - rest, rest};
  return {count / batch + (rest > 0 ? 1 : 0), count, 0};
}

void Batcher::fill(std::span<const std::uint32_t> rows, std::span<float> x,
                   std::span<std::int32_t> labels) const {
  const auto features = static_cast<std::size_t>(data_.features);
  check(x.size() == rows.size() * features && (labels.size() == rows.size() || labels.empty()),
        Fault::bad_input, "batch of {} rows of {} pixels: got room for {} numbers and {} labels",
        rows.size(), features, x.size(), labels.size());
  for (std::size_t i = 0; i < rows.size(); ++i) {
    const std::size_t row = rows[i];
    check(row < static_cast<std::size_t>(data_.count), Fault::bad_input,
          "batch: row {} asked for, there are {}", row, data_.count);
    float* const to = x.data() + i * features;
    if (!data_.values.empty()) {
      std::copy_n(data_.values.data() + row * features, features, to);
    } else {
      const std::uint8_t* const from = data_.pixels.data() + row * features;
      for (std::size_t p = 0; p < features; ++p) to[p] = static_cast<float>(from[p]) / 255.0F;
    }
    if (!labels.empty()) labels[i] = data_.labels[row];
  }
}

void Batcher::fill_padded(std::span<const std::uint32_t> rows, std::span<float> x,
                          std::span<std::int32_t> labels) const {
  const auto features = static_cast<std::size_t>(data_.features);
  const std::size_t room = labels.size();
  check(x.size() == room * features && room >= rows.size(), Fault::bad_input,
        "batch of {} rows of {} pixels to be padded: got room for {} numbers and {} labels",
        rows.size(), features, x.size(), room);
  fill(rows, x.first(rows.size() * features), labels.first(rows.size()));
  std::fill(x.begin() + static_cast<std::ptrdiff_t>(rows.size() * features), x.end(), 0.0F);
  std::fill(labels.begin() + static_cast<std::ptrdiff_t>(rows.size()), labels.end(), kPaddingLabel);
}

}  // namespace stepscope
