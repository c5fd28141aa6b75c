// The GlyphLab layout of a data set: a folder with
//   images.npy    f32 {N, 1, H, W} or {N, H, W}: pixels as steps read them, all finite
//   labels.npy    i64 or i32 {N}
//   metadata.csv  columns `index` (0 to N - 1, each once) and `split` (train, val or validation,
//                 test), in any order; `source`, where there is one; others are ignored
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cstdint>
#include <filesystem>
#include <string>
#include <string_view>

#include "bench/data/dataset.h"

namespace stepscope {

inline constexpr std::string_view kGlyphLabImages = "images.npy";
inline constexpr std::string_view kGlyphLabLabels = "labels.npy";
inline constexpr std::string_view kGlyphLabMetadata = "metadata.csv";
inline constexpr std::array kGlyphLabFiles = {kGlyphLabImages, kGlyphLabLabels, kGlyphLabMetadata};

struct GlyphLab {
  Dataset train;                     // the rows of train, then those of val, by index in each
  std::int64_t validation_rows = 0;  // those of val, at the end of `train`
  Dataset test;                      // by index; may have no rows
  std::string source;                // the column `source`, where all rows say the same; else empty
};

// Labels must lie in [0, classes); with `classes` 0, in [0, 2^31), and Dataset::classes follows
// from the largest. Throws io for what cannot be read, and bad_input, naming file and place, for
// other element types and shapes, numbers of rows that differ, NaN and infinite pixels, labels out
// of range, missing columns, an index that is none or stands there twice, an unknown split (with
// the nearest), and no rows to train on.
GlyphLab read_glyphlab(const std::filesystem::path& folder, std::int64_t classes);

}  // namespace stepscope
