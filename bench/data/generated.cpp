// Making of the generated images. All arithmetic is in integers, fractions count 1/256.
// SPDX-License-Identifier: Apache-2.0
#include "bench/data/generated.h"

#include <algorithm>
#include <array>
#include <string>

#include "bench/data/idx.h"
#include "bench/data/noise.h"
#include "ops/base/check.h"
#include "ops/base/philox.h"

namespace stepscope {
namespace {

constexpr int kOne = 256;   // 1.0 as a fraction
constexpr int kNoise = 87;  // deviation 50 grey levels

// A pattern is drawn on a coarse grid and smoothed up to the size of the image, so that
// neighbouring pixels agree as they do in pictures.
constexpr std::int64_t kGrid = 7;
constexpr int kDark = 96;  // of 256: grid points below stay black

using Pattern = std::vector<int>;  // {rows, columns}, each 0 .. 255

// Place of pixel `i` of `size` on the grid, as a fraction.
std::int64_t on_grid(std::int64_t i, std::int64_t size) {
  return size == 1 ? 0 : i * (kGrid - 1) * kOne / (size - 1);
}

// The value between grid points, linear in both directions.
int between(const std::array<int, kGrid * kGrid>& grid, std::int64_t y, std::int64_t x) {
  const std::int64_t y0 = std::min(y / kOne, kGrid - 2);
  const std::int64_t x0 = std::min(x / kOne, kGrid - 2);
  const std::int64_t down = y - y0 * kOne;
  const std::int64_t right = x - x0 * kOne;
  const auto at = [&](std::int64_t row, std::int64_t column) {
    return std::int64_t{grid[static_cast<std::size_t>(row * kGrid + column)]};
  };
  const std::int64_t upper = at(y0, x0) * (kOne - right) + at(y0, x0 + 1) * right;
  const std::int64_t lower = at(y0 + 1, x0) * (kOne - right) + at(y0 + 1, x0 + 1) * right;
  return static_cast<int>((upper * (kOne - down) + lower * down) / kOne / kOne);
}

std::vector<Pattern> make_patterns(const GeneratedSpec& spec) {
  Philox random(spec.seed, kGeneratedStream);
  std::vector<Pattern> patterns;
  for (std::int64_t c = 0; c < spec.classes; ++c) {
    std::array<int, kGrid * kGrid> grid;
    for (int& point : grid) {
      point = std::max(0, static_cast<int>(random.below(kOne)) - kDark) * 255 / (255 - kDark);
    }
    Pattern pattern;
    for (std::int64_t y = 0; y < spec.rows; ++y) {
      for (std::int64_t x = 0; x < spec.columns; ++x) {
        pattern.push_back(between(grid, on_grid(y, spec.rows), on_grid(x, spec.columns)));
      }
    }
    patterns.push_back(std::move(pattern));
  }
  return patterns;
}

// How one image departs from the pattern of its class.
struct Variation {
  const Pattern* other;           // blended in
  int share;                      // of the own pattern, of kOne
  std::int64_t shift_y, shift_x;  // pixels
};

Variation draw_variation(Philox& random, const std::vector<Pattern>& patterns) {
  constexpr std::uint64_t kShifts = 7;        // -3 .. 3 pixels
  constexpr std::uint64_t kLeastShare = 136;  // the own pattern always outweighs the other
  Variation v{};
  v.other = &patterns[random.below(patterns.size())];
  v.share = static_cast<int>(kLeastShare + random.below(kOne + 1 - kLeastShare));
  v.shift_y = static_cast<std::int64_t>(random.below(kShifts)) - 3;
  v.shift_x = static_cast<std::int64_t>(random.below(kShifts)) - 3;
  return v;
}

void append_image(std::vector<std::uint8_t>& pixels, const GeneratedSpec& spec, const Pattern& own,
                  const Variation& v, Philox& random) {
  for (std::int64_t y = 0; y < spec.rows; ++y) {
    for (std::int64_t x = 0; x < spec.columns; ++x) {
      const std::int64_t from_y = y + v.shift_y;
      const std::int64_t from_x = x + v.shift_x;
      int value = draw_noise(random, kNoise);
      if (from_y >= 0 && from_y < spec.rows && from_x >= 0 && from_x < spec.columns) {
        const auto at = static_cast<std::size_t>(from_y * spec.columns + from_x);
        value += (own[at] * v.share + (*v.other)[at] * (kOne - v.share)) / kOne;
      }
      pixels.push_back(static_cast<std::uint8_t>(std::clamp(value, 0, 255)));
    }
  }
}

Dataset make_images(const GeneratedSpec& spec, const std::vector<Pattern>& patterns,
                    std::int64_t count, std::uint64_t stream, std::string_view part,
                    const StopMaking& stop) {
  Dataset data{.name = fmt::format("generated {} images", part),
               .count = count,
               .rows = spec.rows,
               .columns = spec.columns,
               .classes = spec.classes};
  data.pixels.reserve(static_cast<std::size_t>(count * spec.rows * spec.columns));
  Philox random(spec.seed, stream);
  for (std::int64_t i = 0; i < count; ++i) {
    if (stop && stop()) throw MakingStopped();
    const std::uint64_t label = random.below(patterns.size());
    const Variation variation = draw_variation(random, patterns);
    append_image(data.pixels, spec, patterns[label], variation, random);
    data.labels.push_back(static_cast<std::int32_t>(label));
  }
  return data;
}

void check_sizes(const GeneratedSpec& spec) {
  for (const std::int64_t size : {spec.train, spec.test, spec.rows, spec.columns, spec.classes}) {
    check(size >= 1, Fault::bad_input, "generated data: a size is {}, expected 1 or more", size);
  }
  // In double: exact enough to tell absurd from sensible, and it cannot overflow.
  const auto bytes = (static_cast<double>(spec.train) + static_cast<double>(spec.test) +
                      static_cast<double>(spec.classes)) *
                     static_cast<double>(spec.rows) * static_cast<double>(spec.columns);
  check(bytes <= static_cast<double>(kLargestIdxBytes), Fault::bad_input,
        "generated data: {} + {} images of {} x {} for {} classes take more than 4 GiB", spec.train,
        spec.test, spec.rows, spec.columns, spec.classes);
}

}  // namespace

GeneratedData make_generated(const GeneratedSpec& spec, const StopMaking& stop) {
  check_sizes(spec);
  const std::vector<Pattern> patterns = make_patterns(spec);
  return {.train = make_images(spec, patterns, spec.train, kGeneratedStream + 1, "training", stop),
          .test = make_images(spec, patterns, spec.test, kGeneratedStream + 2, "test", stop)};
}

}  // namespace stepscope
