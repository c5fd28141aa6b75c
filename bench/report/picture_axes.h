// The scales of a picture: the range of an axis, and where its numbers stand.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "bench/report/figure.h"

namespace stepscope {

struct Tick {
  double at = 0;
  std::string text;
};

struct Scale {
  bool logarithmic = false;
  double least = 0, most = 1;
  std::vector<Tick> ticks;

  bool shows(double value) const { return value >= least && value <= most; }
  // 0 at `least`, 1 at `most`.
  double share(double value) const;
};

enum class Direction : std::uint8_t { across, up };

// A scale that shows all `values` and `others` (finite; those not above 0 are left out where it is
// logarithmic) on `pixels` of the page, with as many ticks as can be read. Few whole numbers
// across, as batch sizes are, are the ticks themselves; `others` never are.
Scale scale_of(const Axis& axis, const std::vector<double>& values, double pixels,
               Direction direction, const std::vector<double>& others = {});

// About how wide a line is in pixels, in the font of a picture: never less than it is in common
// fonts.
double width_of(std::string_view text);

// With an ellipsis where it is wider than that.
std::string shortened(std::string_view text, double pixels);

// 0.25, 17, 12.5k: at most four digits.
std::string short_number(double value);

}  // namespace stepscope
