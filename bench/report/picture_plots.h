// What gnuplot is told to plot of a figure: blocks of data, and one element of its `plot` each.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include "bench/report/figure.h"
#include "bench/report/picture_axes.h"

namespace stepscope {

struct Plot {
  std::size_t series = 0;  // of the figure
  std::string data;        // lines of numbers
  std::string command;     // behind the name of the data: "using 1:2 with lines ..."
};

// Bands, lines, error bars, marks, in the order in which they lie over each other. Marks that are
// not finite, or not above 0 on a logarithmic axis, are left out. Error bars of several series
// stand a few pixels apart. `width`: of the plot, in pixels.
std::vector<Plot> mark_plots(const Figure& figure, const Scale& x, const Scale& y, double width);

inline constexpr double kBarsOfRow = 0.84;  // of a row's height; the rest is between rows

// Bars lie: a row for each name, values across; so that names of any length can be read. Series
// without a bar in a row leave no gap there.
std::vector<Plot> bar_plots(const Figure& figure, const Scale& values, std::size_t rows,
                            bool with_numbers);

// Whether a mark can be drawn on these axes.
bool is_drawable(const Mark& mark, const Axis& x, const Axis& y);

// Single quotes, in which gnuplot reads nothing but text.
std::string plain_string(std::string_view text);

}  // namespace stepscope
