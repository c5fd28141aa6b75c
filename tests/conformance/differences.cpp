// Comparisons, element by element.
// SPDX-License-Identifier: Apache-2.0
#include "tests/conformance/differences.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "tests/conformance/tolerance.h"

namespace stepscope::conformance {
namespace {

bool same(double a, double b) {
  if (std::isnan(a) || std::isnan(b)) return std::isnan(a) && std::isnan(b);
  return a == b && std::signbit(a) == std::signbit(b);
}

std::string failure(std::size_t output, std::size_t element, double got, double expected,
                    const std::string& why) {
  return fmt::format("output {}, element {}: got {:.9g}, expected {:.9g}{}", output, element, got,
                     expected, why);
}

// Calls agree(output, element) for all and reports the first that does not.
template <class Agree>
std::string compare(const Elements& got, const Elements& expected, Agree agree) {
  if (got.size() != expected.size()) {
    return fmt::format("{} outputs, expected {}", got.size(), expected.size());
  }
  for (std::size_t k = 0; k < got.size(); ++k) {
    if (got[k].size() != expected[k].size()) {
      return fmt::format("output {}: {} elements, expected {}", k, got[k].size(),
                         expected[k].size());
    }
    for (std::size_t i = 0; i < got[k].size(); ++i) {
      const std::string why = agree(k, i);
      if (!why.empty()) return failure(k, i, got[k][i], expected[k][i], why);
    }
  }
  return {};
}

}  // namespace

std::string different_bits(const OpSite& site, const std::vector<Bytes>& outputs,
                           const std::vector<Bytes>& expected) {
  const Elements got = output_elements(site, outputs);
  const Elements want = output_elements(site, expected);
  return compare(got, want, [&](std::size_t k, std::size_t i) -> std::string {
    return same(got[k][i], want[k][i]) ? "" : ", bit for bit";
  });
}

std::string beyond_bound(const OpEntry& op, const OpSite& site, const Elements& inputs,
                         const Elements& outputs, const Elements& oracle, double* worst) {
  const Oracle seen{site.attrs, site.in, inputs, oracle};
  std::vector<std::vector<double>> bounds;
  for (std::size_t k = 0; k < oracle.size(); ++k) {
    bounds.push_back(op.table.bound(seen, k));
    if (is_floating(site.out[k].dtype) && bounds[k].size() != oracle[k].size()) {
      return fmt::format("output {}: the bound of {} has {} elements, expected {}", k, op.name,
                         bounds[k].size(), oracle[k].size());
    }
  }
  return compare(outputs, oracle, [&](std::size_t k, std::size_t i) -> std::string {
    const double error = std::abs(outputs[k][i] - oracle[k][i]);
    if (!is_floating(site.out[k].dtype)) return error == 0.0 ? "" : ", exactly";
    const double bound = bounds[k][i] * kOracleSlack + kSmallestNormal;
    *worst = std::max(*worst, error / bound);
    if (error <= bound && std::isfinite(bound)) return "";  // false for NaN
    return fmt::format(", off by {:.3g} where {:.3g} is allowed", error, bound);
  });
}

std::string unlike_written(Agreement agreement, const Elements& outputs, const Elements& written) {
  return compare(outputs, written, [&](std::size_t k, std::size_t i) -> std::string {
    const double got = outputs[k][i];
    const double want = written[k][i];
    if (same(got, want) || (agreement == Agreement::bounded && got == want)) return "";
    const bool may_round = agreement == Agreement::bounded && std::isfinite(want);
    if (may_round && std::abs(got - want) <= 0x1p-20 * std::abs(want)) return "";
    return " as written";
  });
}

}  // namespace stepscope::conformance
