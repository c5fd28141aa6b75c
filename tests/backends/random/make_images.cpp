// Images: convolutions, pools, and the way in and out.
// SPDX-License-Identifier: Apache-2.0
#include "ops/ir/build.h"
#include "tests/backends/random/program_maker.h"

namespace stepscope::test {
namespace {

// One, less than a block of channels, a block, a block and one more.
constexpr std::array<std::int64_t, 7> kChannels = {1, 2, 3, 7, 8, 16, 17};

std::vector<std::int64_t> divisors_of(std::int64_t n) {
  std::vector<std::int64_t> divisors;
  for (std::int64_t i = 1; i <= n; ++i) {
    if (n % i == 0) divisors.push_back(i);
  }
  return divisors;
}

bool is_power_of_two(std::int64_t n) { return (n & (n - 1)) == 0; }

}  // namespace

ValueId ProgramMaker::fresh_image() {
  const std::int64_t C = kChannels[below(kChannels.size())];
  const std::int64_t N = one_in(3) ? shape(x_)[0] : between(1, 3);
  const Shape of = {N, C, between(1, 9), between(1, 9)};
  if (of.elements() > kMostElements) return {};
  return graph_.declare(Role::input, f32(of), fmt::format("image{}", graph_.values().size()));
}

// {N, rest} as {N, C, H, W}, C H W = rest
ValueId ProgramMaker::shown_as_image(ValueId x) {
  if (rank(x) < 2 || rank(x) == 4) return rank(x) == 4 ? x : ValueId{};
  const std::int64_t N = shape(x)[0];
  const std::int64_t rest = elements(x) / N;
  const auto channels = divisors_of(rest);
  const std::int64_t C = channels[below(channels.size())];
  const auto heights = divisors_of(rest / C);
  const std::int64_t H = heights[below(heights.size())];
  const ValueId shown = graph_.reshape(x, {N, C, H, rest / C / H});
  set_degree(shown, degree(x));
  return shown;
}

ValueId ProgramMaker::image() {
  if (one_in(3)) return pick_where([&](ValueId id) { return rank(id) == 4; });
  return one_in(2) ? fresh_image() : shown_as_image(pick());
}

// Invalid where it would be too large, or too many digits.
ValueId ProgramMaker::convolved(ValueId x) {
  const Shape from = shape(x);
  const std::int64_t O = kChannels[below(kChannels.size())];
  const auto pad = [&] { return one_in(2) ? between(0, 2) : 0; };
  Conv2dAttrs attrs{.stride_h = between(1, 2), .stride_w = between(1, 3)};
  if (one_in(2)) attrs.stride_h = attrs.stride_w = 1;
  attrs.pad_h = pad();
  attrs.pad_w = pad();
  const std::int64_t KH = between(1, std::min<std::int64_t>(4, from[2] + 2 * attrs.pad_h));
  const std::int64_t KW = between(1, std::min<std::int64_t>(4, from[3] + 2 * attrs.pad_w));
  attrs.pad_h = std::min(attrs.pad_h, KH - 1);
  attrs.pad_w = std::min(attrs.pad_w, KW - 1);
  const std::int64_t OH = (from[2] + 2 * attrs.pad_h - KH) / attrs.stride_h + 1;
  const std::int64_t OW = (from[3] + 2 * attrs.pad_w - KW) / attrs.stride_w + 1;
  if (OH < 1 || OW < 1) return {};
  const std::int64_t made = from[0] * O * OH * OW;
  if (made > kMostElements || made * from[1] * KH * KW > kMostProducts) return {};
  if (!product_fits(degree(x), 1)) return {};
  const ValueId w = parameter({O, from[1], KH, KW});
  const ValueId y = graph_.apply1(OpKind::Conv2d, {x, w}, attrs);
  set_degree(y, degree(x) + 1);
  return y;
}

// Fits x. A mean is exact only over a power of two.
Pool2dAttrs ProgramMaker::window(const Shape& x, bool for_mean) {
  if (one_in(3) && x[2] >= 2 && x[3] >= 2) return {};  // the usual one
  const auto along = [&](std::int64_t size, std::int64_t& kernel, std::int64_t& stride,
                         std::int64_t& pad) {
    kernel = between(1, 3);
    if (for_mean && !real_ && !is_power_of_two(kernel)) kernel = 2;
    pad = one_in(4) ? between(0, kernel - 1) : 0;
    while (kernel > size + 2 * pad) --kernel;
    pad = std::min(pad, kernel - 1);
    while (kernel > size + 2 * pad) --kernel;
    stride = between(1, 3);
  };
  Pool2dAttrs made;
  along(x[2], made.kernel_h, made.stride_h, made.pad_h);
  along(x[3], made.kernel_w, made.stride_w, made.pad_w);
  return made;
}

ValueId ProgramMaker::pooled(ValueId x) {
  const bool mean = one_in(3);
  const Pool2dAttrs attrs = window(shape(x), mean);
  const ValueId y = graph_.apply(mean ? OpKind::AvgPool : OpKind::MaxPool, {x}, attrs)[0];
  set_degree(y, degree(x));
  return y;
}

bool ProgramMaker::convolve() {
  const ValueId x = image();
  const ValueId y = x.valid() ? convolved(x) : ValueId{};
  return y.valid() && add(y, degree(y));
}

bool ProgramMaker::pool() {
  const ValueId x = image();
  if (!x.valid()) return false;
  const ValueId y = pooled(x);
  return add(y, degree(y));
}

// A few layers as nets have them, and back to rows.
bool ProgramMaker::images() {
  ValueId x = image();
  if (!x.valid()) return false;
  bool any = false;
  for (std::int64_t count = between(1, 3); count > 0; --count) {
    const ValueId y = convolved(x);
    if (!y.valid()) break;
    x = activated(shifted(y));
    if (!one_in(3)) x = pooled(x);
    if (one_in(5)) add(x, degree(x));
    any = true;
  }
  return any && add(graph_.reshape(x, {shape(x)[0], elements(x) / shape(x)[0]}), degree(x));
}

}  // namespace stepscope::test
