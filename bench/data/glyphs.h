// Generated glyphs, for small nets with convolutions: 24 x 24 images of one patch of strokes, which
// run across, down or aslant; that is the class. Place, size, phase, contrast and polarity (dark
// on light, light on dark) vary, so that a pixel alone says next to nothing: a linear classifier
// stays near chance, and what convolves learns them. No result on them says anything about real
// images, so whatever is made from them is labelled `generated`.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

#include "bench/data/generated.h"

namespace stepscope {

struct GlyphSpec {
  std::uint64_t seed = 1;               // of the images, not of a run
  std::int64_t train = 300, test = 60;  // images; a fifth of `train` validates (bench/data/load.h)
};

inline constexpr std::int64_t kGlyphSide = 24;  // rows and columns
inline constexpr std::int64_t kGlyphClasses = 3;

// Integers from Philox alone, streams kGlyphStream for train and the next one for test: equal specs
// give equal bytes on every machine. Throws bad_input for sizes below 1 or above kLargestIdxBytes.
GeneratedData make_glyphs(const GlyphSpec& spec, const StopMaking& stop = {});

inline constexpr std::uint64_t kGlyphStream = std::uint64_t{4} << 32;

}  // namespace stepscope
