// Steps to break even.
// SPDX-License-Identifier: Apache-2.0
#include "bench/compare/break_even.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <vector>

#include "bench/compare/budget.h"
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

// Empty where there is an answer.
std::string why_not_known(const BreakEven& costs, const RatioRecord& ratio) {
  if (!ratio.reason.empty()) return ratio.reason;
  if (ratio.verdict == "void") return "void";
  if (!ratio.difference_us) return "no ratio";
  const bool interval = ratio.difference_us->low && ratio.difference_us->high;
  if (!interval || ratio.verdict == "exploratory") {
    if (ratio.processes <= 1) return "one process";
    return ratio.processes < kWorkingProcesses
               ? fmt::format("fewer than {} processes", kWorkingProcesses)
               : "too few trusted blocks";
  }
  if (ratio.verdict == "UNDECIDED") return "UNDECIDED";
  if (!costs.extra_us) return "one-off costs were not measured";
  return "";
}

}  // namespace

BreakEven break_even_of(const ArmRecord& base, const ArmRecord& of, const RatioRecord& ratio) {
  BreakEven result{.extra_us = extra_us(base, of)};
  if (const std::string why = why_not_known(result, ratio); !why.empty()) {
    result.text = fmt::format("not known: {}", why);
    return result;
  }
  const Interval& difference = *ratio.difference_us;  // of less base: below 0 where it saves time
  if (difference.estimate >= 0.0 || *difference.high >= 0.0) {
    result.text =
        *result.extra_us <= 0.0 && ratio.verdict == "SAME" ? "nothing to pay back" : "never";
    return result;
  }
  result.steps = std::max(0.0, std::ceil(*result.extra_us / -difference.estimate));
  result.text = *result.steps == 0.0
                    ? "at once"
                    : fmt::format("{:.0f} step{}", *result.steps, *result.steps == 1.0 ? "" : "s");
  return result;
}

}  // namespace stepscope
