// Codes of inks.
// SPDX-License-Identifier: Apache-2.0
#include "bench/report/picture_colors.h"

#include <fmt/format.h>

#include <array>

namespace stepscope {
namespace {

// No colour that anybody would ask for.
constexpr int kSeriesRed = 1, kInkRed = 2;

constexpr std::array<const char*, 6> kInks = {"var(--axis)",  "var(--grid)",  "currentColor",
                                              "var(--muted)", "var(--guide)", "var(--page)"};

}  // namespace

std::string code_of(Ink ink) {
  return fmt::format("rgb '#{:02x}00{:02x}'", kInkRed, static_cast<int>(ink));
}

std::string series_code(std::uint8_t color) {
  return fmt::format("rgb '#{:02x}00{:02x}'", kSeriesRed, color % kSeriesColors);
}

std::optional<std::string> page_color(int red, int green, int blue) {
  if (green != 0 || blue < 0) return std::nullopt;
  if (red == kSeriesRed && blue < kSeriesColors) {
    return series_variable(static_cast<std::uint8_t>(blue));
  }
  if (red == kInkRed && blue < static_cast<int>(kInks.size())) {
    return kInks[static_cast<std::size_t>(blue)];
  }
  return std::nullopt;
}

std::string series_variable(std::uint8_t color) {
  return fmt::format("var(--series-{})", color % kSeriesColors);
}

}  // namespace stepscope
