// MaxPool and its gradient against plain loops: ties, NaN, padding, overlapping and large windows,
// every layout, and a gradient that comes in another layout than the values had.
// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include <fmt/format.h>

#include <cmath>
#include <limits>
#include <string>
#include <vector>

#include "backends/cpu/layout.h"
#include "ops/ir/op_def.h"
#include "tests/backends/cpu/own_backend.h"

namespace stepscope::cpu {
namespace {

constexpr std::int64_t kLayouts[] = {0, 3, 8, 11, 16};

struct Case {
  Shape x;
  Pool2dAttrs window;
};

const Case kCases[] = {{{3, 11, 6, 8}, {}},                      // tiles
                       {{2, 11, 7, 9}, {}},                      // all but the last row and column
                       {{2, 5, 24, 40}, {}},                     // rows of more than a vector
                       {{2, 3, 2, 2}, {}},                       // one window
                       {{2, 11, 7, 9}, {3, 3, 2, 2, 1, 1}},      // overlaps and padding
                       {{2, 11, 6, 6}, {3, 2, 3, 2, 0, 0}},      // tiles, not square
                       {{1, 4, 6, 9}, {2, 3, 4, 5, 1, 2}},       // gaps and padding
                       {{2, 3, 20, 21}, {17, 16, 1, 2, 0, 3}}};  // more places than a byte counts

std::string to_text(const Case& each) {
  return fmt::format("{} {}", to_string(each.x), to_string(Attrs{each.window}));
}

Pool2dGradAttrs gradient_attrs(const Case& each) {
  const auto& w = each.window;
  return {w.kernel_h, w.kernel_w, w.stride_h, w.stride_w, w.pad_h, w.pad_w, each.x[2], each.x[3]};
}

struct Expected {
  std::vector<float> y;
  std::vector<std::size_t> winner;  // per element of y: its index in x
};

// The winner of the window at (h0, w0) of the plane that begins at `plane`.
std::size_t winner_of(const Case& each, const std::vector<float>& x, std::size_t plane,
                      std::int64_t h0, std::int64_t w0) {
  std::size_t best = std::numeric_limits<std::size_t>::max();
  for (std::int64_t h = h0; h < h0 + each.window.kernel_h; ++h) {
    for (std::int64_t w = w0; w < w0 + each.window.kernel_w; ++w) {
      if (h < 0 || w < 0 || h >= each.x[2] || w >= each.x[3]) continue;
      const std::size_t at = plane + static_cast<std::size_t>(h * each.x[3] + w);
      if (best == std::numeric_limits<std::size_t>::max()) best = at;
      if (std::isnan(x[best])) continue;
      if (std::isnan(x[at]) || x[at] > x[best]) best = at;
    }
  }
  return best;
}

Expected expect(const Case& each, const std::vector<float>& x, const Shape& y) {
  Expected expected;
  const auto& w = each.window;
  for (std::int64_t plane = 0; plane < y[0] * y[1]; ++plane) {
    for (std::int64_t oh = 0; oh < y[2]; ++oh) {
      for (std::int64_t ow = 0; ow < y[3]; ++ow) {
        const std::size_t best =
            winner_of(each, x, static_cast<std::size_t>(plane * each.x[2] * each.x[3]),
                      oh * w.stride_h - w.pad_h, ow * w.stride_w - w.pad_w);
        expected.winner.push_back(best);
        expected.y.push_back(x[best]);
      }
    }
  }
  return expected;
}

Bytes values(const Case& each) {
  std::vector<float> x = floats_of(with_ties(each.x.elements(), 3));
  for (std::size_t i = 5; i < x.size(); i += 23) x[i] = std::numeric_limits<float>::quiet_NaN();
  for (std::size_t i = 2; i < x.size(); i += 31) x[i] = -std::numeric_limits<float>::infinity();
  return bytes_of(x);
}

// Sums in the order of y, from +0.
Bytes expect_gradient(const Case& each, const Expected& expected, const Bytes& dy,
                      const std::vector<float>* y) {
  std::vector<float> dx(static_cast<std::size_t>(each.x.elements()));
  const std::vector<float> slopes = floats_of(dy);
  for (std::size_t i = 0; i < slopes.size(); ++i) {
    dx[expected.winner[i]] += y != nullptr && (*y)[i] <= 0.0F ? 0.0F : slopes[i];
  }
  return bytes_of(dx);
}

bool same(const Bytes& a, const Bytes& b) {  // -0 is 0 here: a tiling gradient stores dy as it is
  const std::vector<float> x = floats_of(a), y = floats_of(b);
  if (x.size() != y.size()) return false;
  for (std::size_t i = 0; i < x.size(); ++i) {
    if (!(x[i] == y[i] || (std::isnan(x[i]) && std::isnan(y[i])))) return false;
  }
  return true;
}

void expect_pools(const Case& each, std::int64_t block, Isa isa) {
  const Bytes x = values(each);
  const OpSite site = site_of(OpKind::MaxPool, each.window, {tensor(each.x, block)});
  const Shape& y_shape = site.out[0].shape;
  const Expected expected = expect(each, floats_of(x), y_shape);
  const std::vector<Bytes> made = run(site, {in_layout(x, each.x, block)}, isa);
  EXPECT_TRUE(same(made[0], in_layout(bytes_of(expected.y), y_shape, block)));
  const Bytes dy = drawn(y_shape.elements(), 9);
  const Bytes relu_y = with_ties(y_shape.elements(), 11);
  const std::vector<float> relu_values = floats_of(relu_y);
  for (const std::int64_t other : kLayouts) {
    SCOPED_TRACE(fmt::format("gradient in blocks of {}", other));
    const TensorType dy_type = tensor(y_shape, other), saved{y_shape, DType::u8};
    const Attrs attrs = gradient_attrs(each);
    const Bytes blocked_dy = in_layout(dy, y_shape, other);
    const Bytes plain =
        run(site_of(OpKind::MaxPoolGrad, attrs, {dy_type, saved}), {blocked_dy, made[1]}, isa)[0];
    EXPECT_TRUE(
        same(plain, in_layout(expect_gradient(each, expected, dy, nullptr), each.x, other)));
    const Bytes with_relu = run(site_of(OpKind::MaxPoolReluGrad, attrs, {dy_type, saved, dy_type}),
                                {blocked_dy, made[1], in_layout(relu_y, y_shape, other)}, isa)[0];
    EXPECT_TRUE(same(with_relu,
                     in_layout(expect_gradient(each, expected, dy, &relu_values), each.x, other)));
  }
}

TEST(CpuPool, TakesTheFirstLargestAndGivesItTheGradient) {
  for (const Case& each : kCases) {
    for (const std::int64_t block : kLayouts) {
      for (const Isa isa : runnable_isas()) {
        SCOPED_TRACE(fmt::format("{} in blocks of {} on {}", to_text(each), block, name(isa)));
        expect_pools(each, block, isa);
      }
    }
  }
}

TEST(CpuPool, SavesAByteForEachElementOfYWhereTheWindowAllows) {
  const auto saved = [](const Case& each, std::int64_t block) {
    const OpSite site = site_of(OpKind::MaxPool, each.window, {tensor(each.x, block)});
    return make_body(site, Isa::v2).saved_bytes();
  };
  EXPECT_EQ(saved(kCases[0], 0), 64U + 3 * 11 * 3 * 4);
  EXPECT_EQ(saved(kCases[0], 16), 64U + 3 * 16 * 3 * 4);
  EXPECT_EQ(saved(kCases[7], 0), 64U + 4 * 2 * 3 * 4 * 6);
}

}  // namespace
}  // namespace stepscope::cpu
