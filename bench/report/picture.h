// Pictures: figures drawn as SVG by gnuplot, fit to stand in an HTML page.
//
// A figure of bars lies: names go down the left side and values across, so that names of any length
// can be read; it is as high as its bars need. Marks of a series whose shape is none of the six are
// not drawn: a line alone.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "bench/report/figure.h"

namespace stepscope {

struct PictureSize {
  int width = 360, height = 270;  // in CSS pixels; text in it is 11 pixels or more
};

// Text for gnuplot 5.4 or newer: one figure, on standard output.
std::string gnuplot_script(const Figure& figure, const PictureSize& size = {});

// Whether a gnuplot that draws SVG can be run; why not, else.
struct Gnuplot {
  std::string program;  // empty: none
  std::string version;  // 5.4
  std::string reason;   // why there is none: "gnuplot is not installed (gnuplot-nox)"
};
Gnuplot find_gnuplot();

// An <svg> element without a prolog: colours are those of the page (currentColor, var(--series-N)),
// ids begin with that of the figure, role="img" with title and description. Nothing when gnuplot
// fails; `why` then has its first line.
std::optional<std::string> draw(const Gnuplot& gnuplot, const Figure& figure, std::string& why,
                                const PictureSize& size = {});

}  // namespace stepscope
