// Interval against band, and Holm's correction.
// SPDX-License-Identifier: Apache-2.0
#include "bench/compare/verdict.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <vector>

#include "bench/compare/analysis.h"
#include "bench/measure/inference.h"

namespace stepscope {
namespace {

bool is_difference(const std::string& verdict) {
  return verdict == "FASTER" || verdict == "SLOWER";
}

double p_of(const RatioRecord& ratio) {
  std::vector<double> logs;
  for (const double value : ratio.per_process) logs.push_back(std::log(value));
  return t_interval(logs, kConfidence).p_outside(std::log1p(ratio.delta.value_or(kLeastDelta)));
}

std::string reason_of(const RatioRecord& ratio) {
  const double delta = *ratio.delta;
  const std::string found =
      fmt::format("{:.3f} to {:.3f}", *ratio.time_ratio->low, *ratio.time_ratio->high);
  const std::string band =
      fmt::format("the band of SAME, {:.3f} to {:.3f}", 1.0 / (1.0 + delta), 1.0 + delta);
  if (ratio.verdict == "SAME") return fmt::format("{} lies inside {}", found, band);
  if (ratio.verdict == "UNDECIDED") {
    return fmt::format("{} lies neither inside nor outside {}", found, band);
  }
  return fmt::format("{} lies outside {}", found, band);
}

}  // namespace

double floor_of(const Interval& control) {
  return std::exp(std::log(*control.high / *control.low) / 2.0) - 1.0;
}

const char* verdict_of(const Interval& time_ratio, double delta) {
  const double low = 1.0 / (1.0 + delta), high = 1.0 + delta;
  if (*time_ratio.high < low) return "FASTER";
  if (*time_ratio.low > high) return "SLOWER";
  if (*time_ratio.low >= low && *time_ratio.high <= high) return "SAME";
  return "UNDECIDED";
}

void judge(std::span<RatioRecord* const> ratios) {
  std::vector<RatioRecord*> family;
  std::vector<double> p;
  for (RatioRecord* ratio : ratios) {
    if (!ratio->time_ratio || !ratio->time_ratio->low) continue;
    family.push_back(ratio);
    ratio->p = p_of(*ratio);
    p.push_back(*ratio->p);
  }
  const std::vector<double> corrected = holm(p);
  for (std::size_t i = 0; i < family.size(); ++i) {
    RatioRecord& ratio = *family[i];
    ratio.p_holm = corrected[i];
    if (!ratio.delta) {
      ratio.verdict = "UNDECIDED";
      ratio.verdict_reason =
          fmt::format("no A/A control in stratum {}: the noise floor is not known", ratio.stratum);
      continue;
    }
    ratio.verdict = verdict_of(*ratio.time_ratio, *ratio.delta);
    ratio.verdict_reason = reason_of(ratio);
    if (is_difference(ratio.verdict) && corrected[i] > 1.0 - kConfidence) {
      ratio.verdict_reason = fmt::format(
          "{}, but p {:.3g} is {:.3g} by Holm's correction over {} verdicts: above {:.2f}",
          ratio.verdict_reason, p[i], corrected[i], family.size(), 1.0 - kConfidence);
      ratio.verdict = "UNDECIDED";
    }
  }
}

}  // namespace stepscope
