// InputRing: a few prepared batches that steps read in turn, so that a timed run never trains on
// one batch alone (its loss would sink to zero, and arms would do unequal work).
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <vector>

#include "bench/data/dataset.h"

namespace stepscope {

struct Batch {
  std::vector<float> x;              // {rows, features}
  std::vector<std::int32_t> labels;  // {rows}; empty for a model without labels
};

class InputRing {
 public:
  static constexpr std::int64_t kBatches = 8;

  // The first batches of epoch 0 (bench/data/batches.h, epoch_order); where the data end, the order
  // begins again, within a batch too: a step of 1024 rows can be timed on 240 images. Throws
  // bad_input for a batch or data of no rows.
  InputRing(const DatasetView& data, std::int64_t batch, std::uint64_t seed);

  // Uniform noise in [0, 1) and no labels, for models that read no data.
  static InputRing noise(std::int64_t features, std::int64_t batch, std::uint64_t seed);

  const Batch& at(std::int64_t step) const {
    return batches_[static_cast<std::size_t>(step) % batches_.size()];
  }

  // SHA-256 of everything in it, in order.
  Digest digest() const;

 private:
  InputRing() = default;

  std::vector<Batch> batches_;
};

}  // namespace stepscope
