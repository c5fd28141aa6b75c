// Asking the library, and choosing.
// SPDX-License-Identifier: Apache-2.0
#include "backends/onednn/layouts.h"

#include <algorithm>
#include <limits>
#include <optional>
#include <string_view>
#include <utility>

#include "backends/cpu/layout.h"
#include "backends/onednn/team.h"
#include "ops/base/check.h"
#include "ops/ir/op_def.h"

namespace stepscope::onednn {
namespace {

constexpr LayoutId blocked_by(std::int64_t channels) { return static_cast<LayoutId>(channels); }

bool is_blocked(LayoutId layout) {
  return layout != LayoutId::row_major &&
         static_cast<std::int64_t>(layout) <= cpu::kMaxChannelBlock;
}

// The library's words for a layout of C channels.
FixedList<ImageFormat, 2> words_for(LayoutId layout, std::int64_t C) {
  FixedList<ImageFormat, 2> words;
  if (layout == LayoutId::row_major) words.push_back(ImageFormat::nchw);
  if (layout == blocked_by(C) || (layout == LayoutId::row_major && C == 1)) {
    words.push_back(ImageFormat::nhwc);
  }
  if (layout == blocked_by(4)) words.push_back(ImageFormat::nChw4c);
  if (layout == blocked_by(8)) words.push_back(ImageFormat::nChw8c);
  if (layout == blocked_by(16)) words.push_back(ImageFormat::nChw16c);
  return words;
}

// Time by implementation, in units of its best one; from the table in the header.
double cost_of(std::string_view implementation) {
  const auto has = [implementation](std::string_view part) {
    return implementation.find(part) != std::string_view::npos;
  };
  if (has("ref")) return 100.0;
  if (has("gemm")) return 8.0;
  if (has("avx512")) return has("brg") ? 1.3 : 1.0;
  if (has("avx2")) return 2.0;
  return has("avx") ? 3.0 : 4.0;
}

struct Offer {
  ConvolutionFormats formats;
  LayoutId w = LayoutId::row_major;
  double cost = std::numeric_limits<double>::infinity();
};

// The best under the words for two layouts; `w` none: whatever the library likes and has a name
// for.
Offer best_offer(const Library& library, const Convolution& site, Direction direction, Bias bias,
                 LayoutId x, LayoutId y, std::optional<LayoutId> w) {
  Offer best;
  for (const ImageFormat of_x : words_for(x, site.C)) {
    for (const ImageFormat of_y : words_for(y, site.O)) {
      const ConvolutionFormats formats{of_x, of_y, w};
      const std::optional<Answer> answer = library.ask(site, direction, bias, formats);
      if (!answer || !answer->w) continue;
      const double cost = cost_of(answer->implementation);
      if (cost < best.cost) best = {formats, *answer->w, cost};
    }
  }
  return best;
}

using Pair = std::pair<LayoutId, LayoutId>;

// In the order of preference among equals.
FixedList<Pair, 6> pairs_for(const Convolution& site) {
  FixedList<Pair, 6> pairs;
  // The library's convolutions of the first layer read plain images of few channels.
  if (site.C <= 3) {
    pairs.push_back({LayoutId::row_major, blocked_by(16)});
    pairs.push_back({LayoutId::row_major, blocked_by(8)});
  }
  if (site.C <= cpu::kMaxChannelBlock && site.O <= cpu::kMaxChannelBlock) {
    const LayoutId x = site.C == 1 ? LayoutId::row_major : blocked_by(site.C);
    const LayoutId y = site.O == 1 ? LayoutId::row_major : blocked_by(site.O);
    pairs.push_back({x, y});
  }
  pairs.push_back({blocked_by(16), blocked_by(16)});
  pairs.push_back({blocked_by(8), blocked_by(8)});
  pairs.push_back({LayoutId::row_major, LayoutId::row_major});
  return pairs;
}

// Images of few channels are inputs, and nobody asks for their gradient.
FixedList<Direction, 3> directions_of(const Convolution& site) {
  if (site.C <= 3) return {Direction::forward, Direction::weight_grad};
  return {Direction::forward, Direction::input_grad, Direction::weight_grad};
}

ConvolutionLayouts best_layouts(const Library& library, const Convolution& site) {
  ConvolutionLayouts best;
  double least = std::numeric_limits<double>::infinity();
  for (const auto& [x, y] : pairs_for(site)) {
    ConvolutionLayouts layouts{x, y, {}};
    double cost = 0.0;
    for (const Direction direction :
         {Direction::forward, Direction::input_grad, Direction::weight_grad}) {
      const Offer offer = best_offer(library, site, direction, Bias::without, x, y, std::nullopt);
      layouts.w[static_cast<std::size_t>(direction)] = offer.w;
      const auto counted = directions_of(site);
      if (std::find(counted.begin(), counted.end(), direction) != counted.end()) {
        cost += offer.cost;
      }
    }
    if (cost < least) {
      least = cost;
      best = layouts;
    }
  }
  return best;
}

LayoutId weights_for(const ConvolutionLayouts& layouts, Direction direction) {
  return layouts.w[static_cast<std::size_t>(direction)];
}

LayoutChoice choose_for_convolution(const LayoutRequest& request,
                                    const ConvolutionLayouts& layouts) {
  LayoutChoice choice{{}, request.attrs};
  switch (request.kind) {
    case OpKind::Conv2d:
    case OpKind::Conv2dBias:
      choice.in = {layouts.x, weights_for(layouts, Direction::forward)};
      std::get<Conv2dAttrs>(choice.attrs).layout = layouts.y;
      break;
    case OpKind::Conv2dInputGrad:
    case OpKind::Conv2dInputReluGrad:
      choice.in = {layouts.y, weights_for(layouts, Direction::input_grad)};
      std::get<Conv2dGradAttrs>(choice.attrs).layout = layouts.x;
      break;
    case OpKind::Conv2dWeightUpdate:
      choice.in = {LayoutId::row_major, layouts.x, layouts.y};
      break;
    default:  // Conv2dWeightGrad, Conv2dWeightBiasGrad
      choice.in = {layouts.x, layouts.y};
      std::get<Conv2dGradAttrs>(choice.attrs).layout = weights_for(layouts, Direction::weight_grad);
  }
  if (request.kind == OpKind::Conv2dBias) choice.in.push_back(LayoutId::row_major);
  if (request.kind == OpKind::Conv2dInputReluGrad) choice.in.push_back(layouts.x);
  return choice;
}

std::array<std::int64_t, 13> key_of(const Convolution& site) {
  return {site.N,  site.C,  site.H,        site.W,        site.O,     site.KH,   site.KW,
          site.OH, site.OW, site.stride_h, site.stride_w, site.pad_h, site.pad_w};
}

template <class OwnAttrs>
Convolution sizes(const Shape& x, const Shape& w, const Shape& y, const OwnAttrs& attrs) {
  return {x[0], x[1], x[2],           x[3],           w[0],        w[2],       w[3],
          y[2], y[3], attrs.stride_h, attrs.stride_w, attrs.pad_h, attrs.pad_w};
}

}  // namespace

bool is_convolution(OpKind kind) {
  switch (kind) {
    case OpKind::Conv2d:
    case OpKind::Conv2dBias:
    case OpKind::Conv2dInputGrad:
    case OpKind::Conv2dInputReluGrad:
    case OpKind::Conv2dWeightGrad:
    case OpKind::Conv2dWeightBiasGrad:
    case OpKind::Conv2dWeightUpdate:
      return true;
    default:
      return false;
  }
}

Convolution convolution_of(OpKind kind, const Attrs& attrs, std::span<const TensorType> in) {
  if (kind == OpKind::Conv2dWeightUpdate) {
    return sizes(in[1].shape, in[0].shape, in[2].shape, std::get<Conv2dUpdateAttrs>(attrs));
  }
  if (kind == OpKind::Conv2d || kind == OpKind::Conv2dBias) {
    TypeList out;
    op_def(kind).infer(in, attrs, out);
    return sizes(in[0].shape, in[1].shape, out[0].shape, std::get<Conv2dAttrs>(attrs));
  }
  const auto& settings = std::get<Conv2dGradAttrs>(attrs);
  if (kind == OpKind::Conv2dInputGrad || kind == OpKind::Conv2dInputReluGrad) {
    const Shape x{in[0].shape[0], in[1].shape[1], settings.height, settings.width};
    return sizes(x, in[1].shape, in[0].shape, settings);
  }
  const Shape w{in[1].shape[1], in[0].shape[1], settings.height, settings.width};
  return sizes(in[0].shape, w, in[1].shape, settings);
}

ConvolutionFormats best_formats(const Library& library, std::string_view op,
                                const Convolution& site, Direction direction, Bias bias, LayoutId x,
                                LayoutId y, std::optional<LayoutId> w) {
  for (const auto& [layout, channels] : {std::pair{x, site.C}, std::pair{y, site.O}}) {
    check(!words_for(layout, channels).empty(), Fault::unsupported,
          "onednn: {} on layout {} of {} channels, which the library has no format for", op,
          static_cast<int>(layout), channels);
  }
  const Offer offer = best_offer(library, site, direction, bias, x, y, w);
  check(offer.cost < std::numeric_limits<double>::infinity(), Fault::unsupported,
        "onednn: {} on layouts {} and {}, which the library does not combine", op,
        static_cast<int>(x), static_cast<int>(y));
  return {offer.formats.x, offer.formats.y, offer.w};
}

const ConvolutionLayouts& Layouts::of(const Convolution& site) {
  const auto [known, is_new] = known_.try_emplace(key_of(site));
  if (is_new) {
    const Team team(threads_);  // what the library answers depends on it
    known->second = best_layouts(library_, site);
  }
  return known->second;
}

LayoutChoice Layouts::choose(const LayoutRequest& request) {
  if (is_convolution(request.kind)) {
    return choose_for_convolution(request,
                                  of(convolution_of(request.kind, request.attrs, request.in)));
  }
  const OpDef& def = op_def(request.kind);
  LayoutId common = LayoutId::row_major;
  bool weights = false;  // among the operands: gradients of weights, say, that are added up
  for (std::size_t i = 0; i < request.in.size(); ++i) {
    const LayoutId layout = request.in[i].layout;
    if (!takes_any_layout(def, i)) continue;
    if (is_blocked(layout) || request.kind == OpKind::Reorder) common = layout;
    weights = weights || is_weight_layout(layout);
  }
  if (weights && request.kind != OpKind::Reorder) common = LayoutId::row_major;
  LayoutChoice choice{{}, request.attrs};
  for (std::size_t i = 0; i < request.in.size(); ++i) {
    choice.in.push_back(takes_any_layout(def, i) ? common : LayoutId::row_major);
  }
  return choice;
}

std::vector<std::size_t> output_bytes(const OpSite& site) {
  const auto& out = site.out;
  std::vector<std::size_t> bytes;
  if (std::all_of(out.begin(), out.end(),
                  [](const TensorType& type) { return type.layout == LayoutId::row_major; })) {
    return bytes;
  }
  bytes.reserve(out.size());
  for (const TensorType& type : out) {
    bytes.push_back(is_weight_layout(type.layout) ? weight_bytes(type.shape, type.layout)
                                                  : cpu::stored_bytes(type));
  }
  return bytes;
}

}  // namespace stepscope::onednn
