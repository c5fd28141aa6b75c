// Figure: a picture as data. What it shows, not how: bench/report/picture.h draws it.
//
// Colour is never the only sign: a series is told by colour, by the shape and filling of its marks
// and by its dashes, and by name.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace stepscope {

struct Mark {
  double x = 0, y = 0;              // finite; above 0 on a logarithmic axis
  std::optional<double> low, high;  // of y: quartiles or an interval, as the figure says
};

// How a series looks. The same arm looks the same in every figure of a report.
struct Look {
  std::uint8_t color = 0;  // 0..7, index into the palette of the report
  std::uint8_t shape = 0;  // 0..5: circle, square, triangle, diamond, down triangle, pentagon;
                           // 6: none, the line alone
  bool filled = true;
  std::uint8_t dash = 0;  // 0: solid, 1: dashed, 2: dotted
};

struct Series {
  std::string name;  // graph/on
  Look look;
  bool line = true;  // through the marks, in the order of x
  std::vector<Mark> marks;
};

// A line across the whole figure, or a band from `at` to `to`.
struct Guide {
  enum class Across : std::uint8_t { x, y };  // y: a horizontal line at a value of y
  Across axis = Across::y;
  double at = 0;
  std::optional<double> to;
  std::string label;  // short; empty: none
};

struct Axis {
  std::string label;  // with its unit: "time per step, us"
  bool logarithmic = false;
  // Names in place of numbers, at 0, 1, 2, ...: the marks' coordinate is the index.
  std::vector<std::string> names;
  std::optional<double> least, most;  // of the range; empty: by the marks
};

struct Figure {
  enum class Spread : std::uint8_t { none, band, bars };  // how low..high of marks is drawn
  enum class Kind : std::uint8_t { marks, bars };         // bars: from 0, side by side per name

  std::string id;     // [a-z0-9-]+, unique in a document
  std::string title;  // "eigen": short, it stands above a small picture
  std::string alt;    // one or two sentences that say what is to be seen, for who cannot see it
  Axis x, y;
  Kind kind = Kind::marks;
  Spread spread = Spread::none;
  std::vector<Series> series;
  std::vector<Guide> guides;
  std::string missing;  // not empty: why there is nothing to draw ("not measured: ...")
};

}  // namespace stepscope
