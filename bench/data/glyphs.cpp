// Drawing of the glyphs.
// SPDX-License-Identifier: Apache-2.0
#include "bench/data/glyphs.h"

#include <algorithm>
#include <string_view>

#include "bench/data/idx.h"
#include "bench/data/noise.h"
#include "ops/base/check.h"

namespace stepscope {
namespace {

enum class Strokes : std::uint8_t { across, down, aslant };  // the class

constexpr std::int64_t kPeriod = 4;  // pixels from stroke to stroke; half of it is ink
constexpr int kNoise = 28;           // deviation 16 grey levels

struct Glyph {
  Strokes strokes{};
  std::int64_t side = 0, left = 0, top = 0;  // of the patch, pixels
  std::int64_t phase = 0;
  int ink = 0, paper = 0;  // grey levels
};

Glyph draw_glyph(Philox& random) {
  constexpr std::int64_t kLeastSide = 12;
  constexpr std::int64_t kMostSide = 18;
  constexpr int kLeastContrast = 130;  // grey levels between ink and paper
  constexpr int kMostContrast = 170;
  const auto below = [&](std::int64_t bound) {
    return static_cast<std::int64_t>(random.below(static_cast<std::uint64_t>(bound)));
  };
  Glyph glyph;
  glyph.strokes = static_cast<Strokes>(below(kGlyphClasses));
  glyph.side = kLeastSide + below(kMostSide - kLeastSide + 1);
  glyph.left = below(kGlyphSide - glyph.side + 1);
  glyph.top = below(kGlyphSide - glyph.side + 1);
  glyph.phase = below(kPeriod);
  const int contrast = kLeastContrast + static_cast<int>(below(kMostContrast - kLeastContrast + 1));
  const int dark = static_cast<int>(below(256 - contrast));
  glyph.ink = dark;
  glyph.paper = dark + contrast;
  if (below(2) == 0) std::swap(glyph.ink, glyph.paper);
  return glyph;
}

bool is_ink(const Glyph& glyph, std::int64_t y, std::int64_t x) {
  const std::int64_t down = y - glyph.top;
  const std::int64_t right = x - glyph.left;
  if (down < 0 || down >= glyph.side || right < 0 || right >= glyph.side) return false;
  std::int64_t across_strokes = glyph.phase;
  if (glyph.strokes != Strokes::down) across_strokes += down;
  if (glyph.strokes != Strokes::across) across_strokes += right;
  return across_strokes % kPeriod < kPeriod / 2;
}

Dataset make_images(const GlyphSpec& spec, std::int64_t count, std::uint64_t stream,
                    std::string_view part, const StopMaking& stop) {
  Dataset data{.name = fmt::format("generated {} glyphs", part),
               .count = count,
               .rows = kGlyphSide,
               .columns = kGlyphSide,
               .classes = kGlyphClasses};
  data.pixels.reserve(static_cast<std::size_t>(count * kGlyphSide * kGlyphSide));
  data.labels.reserve(static_cast<std::size_t>(count));
  Philox random(spec.seed, stream);
  for (std::int64_t i = 0; i < count; ++i) {
    if (stop && stop()) throw MakingStopped();
    const Glyph glyph = draw_glyph(random);
    for (std::int64_t y = 0; y < kGlyphSide; ++y) {
      for (std::int64_t x = 0; x < kGlyphSide; ++x) {
        const int grey = is_ink(glyph, y, x) ? glyph.ink : glyph.paper;
        const int noisy = std::clamp(grey + draw_noise(random, kNoise), 0, 255);
        data.pixels.push_back(static_cast<std::uint8_t>(noisy));
      }
    }
    data.labels.push_back(static_cast<std::int32_t>(glyph.strokes));
  }
  return data;
}

}  // namespace

GeneratedData make_glyphs(const GlyphSpec& spec, const StopMaking& stop) {
  constexpr std::int64_t kMost = kLargestIdxBytes / (kGlyphSide * kGlyphSide);
  for (const std::int64_t size : {spec.train, spec.test}) {
    check(size >= 1 && size <= kMost, Fault::bad_input,
          "generated glyphs: {} images asked for, expected 1 to {}", size, kMost);
  }
  return {.train = make_images(spec, spec.train, kGlyphStream, "training", stop),
          .test = make_images(spec, spec.test, kGlyphStream + 1, "test", stop)};
}

}  // namespace stepscope
