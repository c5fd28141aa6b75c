// Makes gnuplot's SVG fit to stand in a page: what is known is kept, everything else is left out.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace stepscope {

struct PictureNames {
  std::string id;           // all ids of the picture begin with it
  std::string title;        // of the whole, for who cannot see it and as a tool tip
  std::string description;  // what is to be seen
};

// `svg`: a document of gnuplot 5.4 or newer. Inks (bench/report/picture_colors.h) become colours of
// the page, fonts those of the page; marks that nobody uses are dropped. `plots`: names of what was
// plotted, in order: tool tips. Throws device, with the place, where it cannot be read.
std::string page_svg(std::string_view svg, const PictureNames& names,
                     const std::vector<std::string>& plots);

}  // namespace stepscope
