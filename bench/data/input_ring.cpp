// Filling the ring.
// SPDX-License-Identifier: Apache-2.0
#include "bench/data/input_ring.h"

#include "bench/data/batches.h"
#include "ops/base/check.h"
#include "ops/base/philox.h"

namespace stepscope {
namespace {

// Stream of the noise, away from those of parameters, epochs and generated images.
constexpr std::uint64_t kNoiseStream = std::uint64_t{3} << 32;

}  // namespace

InputRing::InputRing(const DatasetView& data, std::int64_t batch, std::uint64_t seed) {
  check(batch >= 1 && data.count >= 1, Fault::bad_input,
        "batch: {} rows asked for, the data have {}; expected 1 or more of both", batch,
        data.count);
  const std::vector<std::uint32_t> order = epoch_order(data.count, seed, 0);
  const Batcher batcher(data);
  std::vector<std::uint32_t> rows(static_cast<std::size_t>(batch));
  std::size_t next = 0;
  for (std::int64_t i = 0; i < kBatches; ++i) {
    for (std::uint32_t& row : rows) row = order[next++ % order.size()];
    Batch& made = batches_.emplace_back();
    made.x.resize(rows.size() * static_cast<std::size_t>(data.features));
    made.labels.resize(rows.size());
    batcher.fill(rows, made.x, made.labels);
  }
}

InputRing InputRing::noise(std::int64_t features, std::int64_t batch, std::uint64_t seed) {
  InputRing ring;
  for (std::int64_t i = 0; i < kBatches; ++i) {
    Philox draws(seed, kNoiseStream + static_cast<std::uint64_t>(i));
    Batch& made = ring.batches_.emplace_back();
    made.x.resize(static_cast<std::size_t>(features * batch));
    for (float& x : made.x) x = static_cast<float>(draws.next_u32() >> 8) * 0x1.0p-24F;
  }
  return ring;
}

Digest InputRing::digest() const {
  Sha256 hash;
  for (const Batch& batch : batches_) {
    hash.update(std::as_bytes(std::span(batch.x)));
    hash.update(std::span(batch.labels));
  }
  return hash.finish();
}

}  // namespace stepscope
