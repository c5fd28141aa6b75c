// The inks of a picture: codes that gnuplot carries through, and what a page makes of them. The
// page's style says what they look like in light, in dark and on paper.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>
#include <string>

namespace stepscope {

enum class Ink : std::uint8_t { axis, grid, text, muted, guide, page };

inline constexpr int kSeriesColors = 8;

// For gnuplot: rgb '#020003'.
std::string code_of(Ink ink);
std::string series_code(std::uint8_t color);

// For a page, from the numbers of a code: var(--grid), currentColor, var(--series-2). Nothing for
// other numbers.
std::optional<std::string> page_color(int red, int green, int blue);

// "var(--series-2)".
std::string series_variable(std::uint8_t color);

}  // namespace stepscope
