// Marks, lines, bands and bars.
// SPDX-License-Identifier: Apache-2.0
#include "bench/report/picture_plots.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>

#include "bench/report/html_text.h"
#include "bench/report/picture_colors.h"

namespace stepscope {
namespace {

constexpr double kMarkSize = 0.72;  // a circle with a radius of 3 pixels

// gnuplot's hollow point types, in the order of Look::shape; the filled one follows each.
constexpr std::array<int, 6> kHollow = {6, 4, 8, 12, 10, 14};

std::string dashes(const Look& look) {
  if (look.dash == 1) return " dt (8,5)";
  if (look.dash == 2) return " dt (2.2,4)";
  return {};
}

std::vector<Mark> drawable(const Figure& figure, const Series& series) {
  std::vector<Mark> marks;
  std::copy_if(series.marks.begin(), series.marks.end(), std::back_inserter(marks),
               [&](const Mark& mark) { return is_drawable(mark, figure.x, figure.y); });
  std::stable_sort(marks.begin(), marks.end(),
                   [](const Mark& a, const Mark& b) { return a.x < b.x; });
  return marks;
}

// Where a mark of a series stands on the axis: beside those of the others where the axis has names,
// and a few pixels apart where error bars would lie over each other.
class Placing {
 public:
  Placing(const Figure& figure, const Scale& x, double width, std::size_t series) {
    const auto count = static_cast<double>(figure.series.size());
    const double step = static_cast<double>(series) - (count - 1.0) / 2.0;
    if (!figure.x.names.empty()) {
      shift_ = step * std::min(0.16, 0.7 / count);
    } else if (figure.spread == Figure::Spread::bars) {
      const double share = step * std::min(kApart, kMostApart / count) / width;
      if (x.logarithmic) {
        factor_ = std::pow(x.most / x.least, share);
      } else {
        shift_ = share * (x.most - x.least);
      }
    }
  }
  double operator()(double x) const { return x * factor_ + shift_; }

 private:
  static constexpr double kApart = 5.0, kMostApart = 24.0;  // pixels
  double factor_ = 1.0, shift_ = 0.0;
};

// x, low, high of the marks that have both.
std::string spreads(const std::vector<Mark>& marks, const Scale& y, const Placing& place) {
  std::string rows;
  for (const Mark& mark : marks) {
    if (!mark.low || !mark.high || !std::isfinite(*mark.low) || !std::isfinite(*mark.high))
      continue;
    const double low = y.logarithmic && *mark.low <= 0.0 ? y.least : *mark.low;
    rows += fmt::format("{} {} {}\n", place(mark.x), low, *mark.high);
  }
  return rows;
}

std::string points(const std::vector<Mark>& marks, const Placing& place) {
  std::string rows;
  for (const Mark& mark : marks) rows += fmt::format("{} {}\n", place(mark.x), mark.y);
  return rows;
}

bool is_band(const Figure& figure, const std::string& rows) {
  return figure.spread == Figure::Spread::band && std::count(rows.begin(), rows.end(), '\n') > 1;
}

void add_spread(std::vector<Plot>& bands, std::vector<Plot>& bars, const Figure& figure,
                const std::string& rows, std::size_t i) {
  if (figure.spread == Figure::Spread::none || rows.empty()) return;
  const std::string color = series_code(figure.series[i].look.color);
  if (is_band(figure, rows)) {
    bands.push_back({i, rows,
                     fmt::format("using 1:2:3 with filledcurves fillcolor {} "
                                 "fillstyle transparent solid 0.14 noborder",
                                 color)});
  } else {
    bars.push_back(
        {i, rows, fmt::format("using 1:2:(0):($3-$2) with vectors nohead lc {} lw 1.4", color)});
  }
}

void add_marks(std::vector<Plot>& plots, const Look& look, const std::string& rows, std::size_t i) {
  if (look.shape >= kHollow.size()) return;
  const int hollow = kHollow[look.shape];
  const std::string color = series_code(look.color);
  const auto with_points = [&](int type, const std::string& ink) {
    plots.push_back(
        {i, rows, fmt::format("using 1:2 with points pt {} ps {} lc {}", type, kMarkSize, ink)});
  };
  with_points(hollow + 1, look.filled ? color : code_of(Ink::page));
  if (!look.filled) with_points(hollow, color);
}

std::string fill_of(const Look& look) {
  const std::string color = series_code(look.color);
  if (look.filled) return fmt::format("fillcolor {} fillstyle solid 1 noborder", color);
  if (look.dash == 2) {
    return fmt::format("fillcolor {0} fillstyle transparent solid 0.35 border lc {0}", color);
  }
  return fmt::format("lc {} lw 1.4 fillstyle empty border", color);
}

struct BarRows {
  std::string bars, numbers, spreads;
};

// Which of the series that have a bar in this row the i-th is, counted from their middle.
double place_in_row(const Figure& figure, double row, std::size_t i) {
  double before = 0.0, all = 0.0;
  for (std::size_t each = 0; each < figure.series.size(); ++each) {
    const std::vector<Mark>& marks = figure.series[each].marks;
    const bool here = std::any_of(marks.begin(), marks.end(), [&](const Mark& mark) {
      return mark.x == row && is_drawable(mark, figure.x, figure.y);
    });
    if (!here) continue;
    ++all;
    if (each < i) ++before;
  }
  return before - (all - 1.0) / 2.0;
}

BarRows bar_rows(const Figure& figure, const Scale& values, std::size_t rows, std::size_t i) {
  const double thick = kBarsOfRow / static_cast<double>(figure.series.size());
  const double base = values.logarithmic ? values.least : 0.0;
  BarRows drawn;
  for (const Mark& mark : drawable(figure, figure.series[i])) {
    if (mark.x < 0.0 || mark.x >= static_cast<double>(rows)) continue;
    const double at = mark.x + place_in_row(figure, mark.x, i) * thick;
    drawn.bars += fmt::format("{} {} {} {} {} {}\n", mark.y, at, base, mark.y, at - thick * 0.44,
                              at + thick * 0.44);
    drawn.numbers += fmt::format("{} {} {}\n", std::max(mark.high.value_or(mark.y), base), at,
                                 short_number(mark.y));
    if (mark.low && mark.high) {
      drawn.spreads += fmt::format("{} {} {}\n", std::max(*mark.low, values.least), at, *mark.high);
    }
  }
  return drawn;
}

}  // namespace

bool is_drawable(const Mark& mark, const Axis& x, const Axis& y) {
  const auto fits = [](double value, const Axis& axis) {
    return std::isfinite(value) && (!axis.logarithmic || value > 0.0);
  };
  return fits(mark.x, x) && fits(mark.y, y);
}

std::string plain_string(std::string_view text) {
  std::string safe = "'";
  for (const char c : clean_line(text)) {
    safe += c;
    if (c == '\'') safe += c;
  }
  return safe + "'";
}

std::vector<Plot> mark_plots(const Figure& figure, const Scale& x, const Scale& y, double width) {
  std::vector<Plot> bands, lines, bars, marks;
  for (std::size_t i = 0; i < figure.series.size(); ++i) {
    const Series& series = figure.series[i];
    const std::vector<Mark> shown = drawable(figure, series);
    if (shown.empty()) continue;
    const Placing place(figure, x, width, i);
    add_spread(bands, bars, figure, spreads(shown, y, place), i);
    const std::string rows = points(shown, place);
    if (series.line && shown.size() > 1) {
      lines.push_back({i, rows,
                       fmt::format("using 1:2 with lines lc {} lw 1.6{}",
                                   series_code(series.look.color), dashes(series.look))});
    }
    add_marks(marks, series.look, rows, i);
  }
  for (auto* more : {&lines, &bars, &marks}) {
    bands.insert(bands.end(), more->begin(), more->end());
  }
  return bands;
}

std::vector<Plot> bar_plots(const Figure& figure, const Scale& values, std::size_t rows,
                            bool with_numbers) {
  std::vector<Plot> plots, over;
  const std::string ink = code_of(Ink::text);
  for (std::size_t i = 0; i < figure.series.size(); ++i) {
    const BarRows drawn = bar_rows(figure, values, rows, i);
    if (drawn.bars.empty()) continue;
    plots.push_back(
        {i, drawn.bars,
         fmt::format("using 1:2:3:4:5:6 with boxxyerror {}", fill_of(figure.series[i].look))});
    if (figure.spread != Figure::Spread::none && !drawn.spreads.empty()) {
      over.push_back({i, drawn.spreads,
                      fmt::format("using 1:2:($3-$1):(0) with vectors nohead lc {} lw 1.4", ink)});
    }
    if (with_numbers) {
      over.push_back({i, drawn.numbers,
                      fmt::format("using 1:2:3 with labels left offset character 0.5,0 "
                                  "textcolor {}",
                                  ink)});
    }
  }
  plots.insert(plots.end(), over.begin(), over.end());
  return plots;
}

}  // namespace stepscope
