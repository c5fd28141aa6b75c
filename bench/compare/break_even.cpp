// Steps to break even.
// SPDX-License-Identifier: Apache-2.0
#include "bench/compare/break_even.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <vector>

#include "bench/measure/statistics.h"

namespace stepscope {
namespace {

// Nothing where not one of its phases was measured.
std::optional<double> total_us(const OneOffRecord& costs, bool with_init) {
  std::optional<double> total;
  const auto add = [&](std::optional<std::int64_t> ns) {
    if (ns) total = total.value_or(0.0) + static_cast<double>(*ns) / 1000.0;
  };
  if (with_init) add(costs.init_ns);
  for (const auto& ns : {costs.compile_ns, costs.capture_ns, costs.instantiate_ns, costs.upload_ns,
                         costs.first_step_ns}) {
    add(ns);
  }
  return total;
}

// Over the processes of both; between backends the k-th of one stands against the k-th of the
// other.
std::optional<double> extra_us(const ArmRecord& base, const ArmRecord& of) {
  const bool between = base.backend != of.backend;
  std::vector<double> extras;
  for (std::size_t i = 0; i < std::min(base.one_off.size(), of.one_off.size()); ++i) {
    const auto base_us = total_us(base.one_off[i], between);
    const auto of_us = total_us(of.one_off[i], between);
    if (base_us && of_us) extras.push_back(*of_us - *base_us);
  }
  if (extras.empty()) return std::nullopt;
  return median(extras);
}

}  // namespace

BreakEven break_even_of(const ArmRecord& base, const ArmRecord& of, const RatioRecord& ratio) {
  BreakEven result{.extra_us = extra_us(base, of)};
  if (ratio.verdict == "void" || !ratio.difference_us) {
    const std::string& why = ratio.reason.empty() ? ratio.verdict_reason : ratio.reason;
    result.text = fmt::format("not known: {}", why.empty() ? "no ratio" : why);
    return result;
  }
  if (!result.extra_us) {
    result.text = "not known: one-off costs were not measured";
    return result;
  }
  const Interval& difference = *ratio.difference_us;  // of less base: below 0 where it saves time
  if (difference.estimate >= 0.0 || (difference.high && *difference.high >= 0.0)) {
    result.text = "never";
    return result;
  }
  result.steps = std::max(0.0, std::ceil(*result.extra_us / -difference.estimate));
  result.text = *result.steps == 0.0
                    ? "at once"
                    : fmt::format("{:.0f} step{}", *result.steps, *result.steps == 1.0 ? "" : "s");
  return result;
}

}  // namespace stepscope
