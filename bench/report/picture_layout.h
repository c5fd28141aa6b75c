// Where things stand in a picture, in pixels, worked out before anything is drawn.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

#include "bench/report/figure.h"
#include "bench/report/picture.h"
#include "bench/report/picture_axes.h"

namespace stepscope {

struct Layout {
  double width = 0, height = 0;
  double left = 0, right = 0, top = 0, bottom = 0;  // around the plot
  Scale across, up;
  bool lying = false;              // bars: names go down the left side, values across
  std::vector<std::string> names;  // of lying bars
  bool rotated = false;            // the names below the plot
  bool numbers = false;            // at the ends of bars

  double plot_width() const { return width - left - right; }
};

// Bars are as high as they need, whatever `size` says.
Layout layout_of(const Figure& figure, const PictureSize& size);

}  // namespace stepscope
