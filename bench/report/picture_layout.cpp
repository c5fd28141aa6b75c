// Margins and scales.
// SPDX-License-Identifier: Apache-2.0
#include "bench/report/picture_layout.h"

#include <algorithm>
#include <cmath>

#include "bench/report/picture_plots.h"

namespace stepscope {
namespace {

constexpr double kLine = 19.0;                  // of text
constexpr double kEdge = 14.0;                  // where nothing stands
constexpr double kWidestName = 172.0;           // beside lying bars
constexpr double kWidestTurned = 120.0;         // below the plot
constexpr double kSine = 0.57, kCosine = 0.82;  // of 35 degrees
constexpr std::size_t kMostNumbers = 30;        // bars that get their number
constexpr double kNumberedBar = 14.0, kBar = 9.0, kThinnestRow = 20.0;

struct Values {
  std::vector<double> x, y;
  std::vector<double> guides_x, guides_y;
  std::size_t marks = 0;
};

Values values_of(const Figure& figure) {
  Values values;
  for (const Series& series : figure.series) {
    for (const Mark& mark : series.marks) {
      if (!is_drawable(mark, figure.x, figure.y)) continue;
      ++values.marks;
      values.x.push_back(mark.x);
      values.y.push_back(mark.y);
      if (figure.spread == Figure::Spread::none) continue;
      for (const auto& end : {mark.low, mark.high}) {
        if (end) values.y.push_back(*end);
      }
    }
  }
  for (const Guide& guide : figure.guides) {
    auto& along = guide.axis == Guide::Across::y ? values.guides_y : values.guides_x;
    along.push_back(guide.at);
    if (guide.to) along.push_back(*guide.to);
  }
  return values;
}

double widest(const std::vector<Tick>& ticks) {
  double width = 0.0;
  for (const Tick& tick : ticks) width = std::max(width, width_of(tick.text));
  return width;
}

void shorten(std::vector<Tick>& ticks, double pixels) {
  for (Tick& tick : ticks) tick.text = shortened(tick.text, pixels);
}

// Names below the plot that do not fit side by side are turned.
void place_names(Layout& layout) {
  const double room = layout.plot_width() / static_cast<double>(layout.across.ticks.size());
  if (widest(layout.across.ticks) + 6.0 <= room) return;
  layout.rotated = true;
  shorten(layout.across.ticks, kWidestTurned);
  layout.bottom += kSine * widest(layout.across.ticks);
  const double overhang = kCosine * width_of(layout.across.ticks.front().text) - room / 2;
  layout.left = std::max(layout.left, overhang);
}

Layout standing(const Figure& figure, const PictureSize& size) {
  const Values values = values_of(figure);
  Layout layout;
  layout.width = size.width;
  layout.height = size.height;
  layout.top = figure.y.label.empty() ? kEdge : kEdge + kLine;
  layout.bottom = kLine + 6.0 + (figure.x.label.empty() ? 0.0 : kLine);
  layout.right = kEdge + 2.0;
  const auto upwards = [&] {
    return scale_of(figure.y, values.y, layout.height - layout.top - layout.bottom, Direction::up,
                    values.guides_y);
  };
  layout.up = upwards();
  layout.left = widest(layout.up.ticks) + kEdge;
  layout.across =
      scale_of(figure.x, values.x, layout.plot_width(), Direction::across, values.guides_x);
  if (figure.x.names.empty()) return layout;
  place_names(layout);
  layout.up = upwards();
  return layout;
}

std::vector<std::string> names_of_bars(const Figure& figure) {
  if (!figure.x.names.empty()) return figure.x.names;
  double last = -1.0;
  for (const Series& series : figure.series) {
    for (const Mark& mark : series.marks) last = std::max(last, mark.x);
  }
  std::vector<std::string> names;
  for (double i = 0.0; i <= std::min(last, 200.0); ++i) names.push_back(short_number(i));
  if (names.empty()) names.emplace_back();
  return names;
}

Layout lying(const Figure& figure, const PictureSize& size) {
  Layout layout;
  layout.lying = true;
  layout.names = names_of_bars(figure);
  Values values = values_of(figure);
  layout.numbers = values.marks <= kMostNumbers;
  if (!figure.y.logarithmic) values.y.push_back(0.0);
  const double bars = static_cast<double>(std::max<std::size_t>(1, figure.series.size())) *
                      (layout.numbers ? kNumberedBar : kBar);
  const double row = std::max(kThinnestRow, bars / kBarsOfRow);
  layout.up = scale_of(Axis{.label = "", .names = layout.names, .least = {}, .most = {}}, {}, 0.0,
                       Direction::up);
  shorten(layout.up.ticks, kWidestName);
  layout.width = size.width;
  layout.top = 6.0;
  layout.bottom = kLine + 6.0 + (figure.y.label.empty() ? 0.0 : kLine);
  layout.height =
      std::ceil(layout.top + layout.bottom +
                row * static_cast<double>(std::max<std::size_t>(1, layout.names.size())));
  layout.left = widest(layout.up.ticks) + kEdge;
  layout.right = layout.numbers ? 44.0 : kEdge + 2.0;
  layout.across =
      scale_of(figure.y, values.y, layout.plot_width(), Direction::across, values.guides_y);
  return layout;
}

}  // namespace

Layout layout_of(const Figure& figure, const PictureSize& size) {
  return figure.kind == Figure::Kind::bars ? lying(figure, size) : standing(figure, size);
}

}  // namespace stepscope
