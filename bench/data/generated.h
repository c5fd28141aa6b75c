// Generated images, for those who have no data set at hand, and for tests. They look a little like
// MNIST: bright strokes on black, each class around its own pattern, shifted, blended and noisy, so
// that an mlp has something to learn and does not learn it at once. No result on them says anything
// about real images, so whatever is made from them is labelled `generated`.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <functional>
#include <stdexcept>

#include "bench/data/dataset.h"

namespace stepscope {

struct GeneratedSpec {
  std::uint64_t seed = 1;  // of the images, not of a run: two runs with two seeds share their data
  std::int64_t train = 6000, test = 1000;  // images
  std::int64_t rows = 28, columns = 28;
  std::int64_t classes = 10;
};

struct GeneratedData {
  Dataset train, test;
};

// Asked before each image; true ends the making, which then throws MakingStopped.
using StopMaking = std::function<bool()>;

class MakingStopped : public std::runtime_error {
 public:
  MakingStopped() : std::runtime_error("the making of data was stopped") {}
};

// Integers from Philox alone: equal specs give equal bytes on every machine.
// Streams of the seed: kGeneratedStream for the patterns, the next two for train and test.
// Throws bad_input for sizes below 1 or above kLargestIdxBytes in all.
GeneratedData make_generated(const GeneratedSpec& spec, const StopMaking& stop = {});

inline constexpr std::uint64_t kGeneratedStream = std::uint64_t{2} << 32;

}  // namespace stepscope
