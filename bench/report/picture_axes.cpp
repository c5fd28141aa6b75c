// Ranges and ticks.
// SPDX-License-Identifier: Apache-2.0
#include "bench/report/picture_axes.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <iterator>

#include "bench/report/wrap.h"

namespace stepscope {
namespace {

constexpr double kCharacter = 7.2;       // pixels; digits of 12 pixel sans-serif have 6.7 to 7.6
constexpr double kBetween = 10.0;        // pixels between two texts in a row
constexpr double kRow = 26.0;            // pixels from tick to tick, upwards
constexpr double kMargin = 0.04;         // of the range, on both sides
constexpr std::size_t kMostNamed = 24;   // numbers that can be ticks themselves
constexpr std::size_t kEnoughTicks = 3;  // fewer say too little of a logarithmic axis

// Of the first n characters, in bytes.
std::size_t bytes_of(std::string_view text, std::size_t n) {
  std::size_t at = 0;
  for (; at < text.size(); ++at) {
    if (begins_character(text[at]) && n-- == 0) break;
  }
  return at;
}

double nice_step(double span, double most_ticks) {
  const double rough = span / std::max(1.0, most_ticks);
  const double power = std::pow(10.0, std::floor(std::log10(rough)));
  for (const double factor : {1.0, 2.0, 5.0}) {
    if (factor * power >= rough * 0.999) return factor * power;
  }
  return 10.0 * power;
}

std::vector<Tick> linear_ticks(const Scale& scale, double pixels, Direction direction) {
  const double apart = direction == Direction::across ? 56.0 : 36.0;
  const double step = nice_step(scale.most - scale.least, pixels / apart);
  const int decimals = std::max(0, -static_cast<int>(std::floor(std::log10(step) + 1e-9)));
  std::vector<Tick> ticks;
  const double first = std::ceil(scale.least / step - 1e-9);
  for (double i = first; i * step <= scale.most + 1e-9 * step; ++i) {
    const double at = i == 0.0 ? 0.0 : i * step;
    ticks.push_back({at, std::abs(at) >= 1e4 || decimals > 6
                             ? short_number(at)
                             : fmt::format("{:.{}f}", at, decimals)});
  }
  return ticks;
}

std::vector<Tick> mantissa_ticks(const Scale& scale, const std::vector<double>& mantissas) {
  std::vector<Tick> ticks;
  const int last = static_cast<int>(std::floor(std::log10(scale.most) + 1e-9));
  for (int power = static_cast<int>(std::floor(std::log10(scale.least))); power <= last; ++power) {
    for (const double mantissa : mantissas) {
      const double at = mantissa * std::pow(10.0, power);
      if (at >= scale.least * (1 - 1e-9) && at <= scale.most * (1 + 1e-9)) {
        ticks.push_back({at, short_number(at)});
      }
    }
  }
  return ticks;
}

bool collide(const std::vector<Tick>& ticks, std::size_t stride, const Scale& scale, double pixels,
             Direction direction) {
  for (std::size_t i = stride; i < ticks.size(); i += stride) {
    const double apart = pixels * (scale.share(ticks[i].at) - scale.share(ticks[i - stride].at));
    const double need =
        direction == Direction::up
            ? kRow
            : (width_of(ticks[i].text) + width_of(ticks[i - stride].text)) / 2 + kBetween;
    if (apart < need) return true;
  }
  return false;
}

// Every second, third ... of them, so that no two texts touch.
std::vector<Tick> thinned(std::vector<Tick> ticks, const Scale& scale, double pixels,
                          Direction direction) {
  std::size_t stride = 1;
  while (stride < ticks.size() && collide(ticks, stride, scale, pixels, direction)) ++stride;
  std::vector<Tick> kept;
  for (std::size_t i = 0; i < ticks.size(); i += stride) kept.push_back(std::move(ticks[i]));
  return kept;
}

std::vector<Tick> logarithmic_ticks(const Scale& scale, double pixels, Direction direction) {
  for (const auto& mantissas : {std::vector<double>{1}, std::vector<double>{1, 2, 5}}) {
    std::vector<Tick> ticks = mantissa_ticks(scale, mantissas);
    if (ticks.size() < kEnoughTicks) continue;
    ticks = thinned(std::move(ticks), scale, pixels, direction);
    if (ticks.size() >= kEnoughTicks) return ticks;
  }
  return thinned(linear_ticks(scale, pixels, direction), scale, pixels, direction);
}

// Batch sizes, if the values are such.
std::vector<Tick> value_ticks(std::vector<double> values) {
  std::sort(values.begin(), values.end());
  values.erase(std::unique(values.begin(), values.end()), values.end());
  std::vector<Tick> ticks;
  if (values.size() > kMostNamed) return ticks;
  for (const double value : values) {
    if (value != std::floor(value) || value > 1e6) return {};
    ticks.push_back({value, fmt::format("{:.0f}", value)});
  }
  return ticks;
}

void set_linear_range(Scale& scale, const Axis& axis, double low, double high) {
  if (low == high) {
    const double around = low == 0.0 ? 1.0 : std::abs(low) * 0.1;
    low -= around;
    high += around;
  }
  const double margin = (high - low) * kMargin;
  // A range that begins near zero begins at zero.
  const bool from_zero = low >= 0.0 && low <= 0.3 * high;
  scale.least = axis.least.value_or(from_zero ? 0.0 : low - margin);
  scale.most = axis.most.value_or(high + margin);
  if (scale.most <= scale.least) scale.most = scale.least + 1.0;
}

void set_logarithmic_range(Scale& scale, const Axis& axis, double low, double high) {
  if (low == high) {
    low /= 2;
    high *= 2;
  }
  const double margin = std::pow(high / low, kMargin);
  const auto given = [](const std::optional<double>& value) { return value && *value > 0.0; };
  scale.least = given(axis.least) ? *axis.least : low / margin;
  scale.most = given(axis.most) ? *axis.most : high * margin;
  if (scale.most <= scale.least) scale.most = scale.least * 10.0;
}

// Of the values, those that the axis can show.
std::vector<double> shown_of(const Axis& axis, const std::vector<double>& values) {
  std::vector<double> shown;
  std::copy_if(values.begin(), values.end(), std::back_inserter(shown), [&](double value) {
    return std::isfinite(value) && (!axis.logarithmic || value > 0.0);
  });
  return shown;
}

}  // namespace

double Scale::share(double value) const {
  if (!logarithmic) return (value - least) / (most - least);
  return std::log(value / least) / std::log(most / least);
}

Scale scale_of(const Axis& axis, const std::vector<double>& values, double pixels,
               Direction direction, const std::vector<double>& others) {
  Scale scale;
  if (!axis.names.empty()) {
    scale.least = -0.5;
    scale.most = static_cast<double>(axis.names.size()) - 0.5;
    for (std::size_t i = 0; i < axis.names.size(); ++i) {
      scale.ticks.push_back({static_cast<double>(i), axis.names[i]});
    }
    return scale;
  }
  scale.logarithmic = axis.logarithmic;
  const std::vector<double> own = shown_of(axis, values);
  std::vector<double> all = shown_of(axis, others);
  all.insert(all.end(), own.begin(), own.end());
  if (all.empty()) all = {1.0};
  const auto [low, high] = std::minmax_element(all.begin(), all.end());
  if (!scale.logarithmic) {
    set_linear_range(scale, axis, *low, *high);
    scale.ticks = linear_ticks(scale, pixels, direction);
    return scale;
  }
  set_logarithmic_range(scale, axis, *low, *high);
  if (direction == Direction::across) {
    scale.ticks = thinned(value_ticks(own), scale, pixels, direction);
  }
  if (scale.ticks.empty()) scale.ticks = logarithmic_ticks(scale, pixels, direction);
  return scale;
}

double width_of(std::string_view text) {
  return kCharacter * static_cast<double>(characters_of(text));
}

std::string shortened(std::string_view text, double pixels) {
  const auto fit = static_cast<std::size_t>(std::max(1.0, std::floor(pixels / kCharacter)));
  if (characters_of(text) <= fit) return std::string(text);
  return fmt::format("{}…", text.substr(0, bytes_of(text, fit - 1)));
}

std::string short_number(double value) {
  struct Suffix {
    double from;
    const char* letter;
  };
  constexpr std::array<Suffix, 4> kSuffixes = {{{1e12, "T"}, {1e9, "G"}, {1e6, "M"}, {1e3, "k"}}};
  if (std::abs(value) >= 9999.5) {
    for (const Suffix& suffix : kSuffixes) {
      if (std::abs(value) < suffix.from * 0.99995) continue;
      return fmt::format("{:.4g}{}", value / suffix.from, suffix.letter);
    }
  }
  return fmt::format("{:.4g}", value == 0.0 ? 0.0 : value);
}

}  // namespace stepscope
