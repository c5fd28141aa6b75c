// The best of several probes, and bounds made of them.
// SPDX-License-Identifier: Apache-2.0
#include "bench/measure/limits.h"

#include <fmt/format.h>

#include <algorithm>
#include <string>

#include "bench/measure/bandwidth.h"
#include "bench/measure/fma_peak.h"
#include "bench/measure/peak.h"

namespace stepscope {
namespace {

constexpr std::string_view kArithmetic = "fma_peak_best";
constexpr std::string_view kBandwidth = "bandwidth_best_";
constexpr double kGiga = 1e9, kMicro = 1e6;

const CalibrationRow* find(std::span<const CalibrationRow> rows, std::string_view name) {
  const auto at = std::find_if(rows.begin(), rows.end(),
                               [&](const CalibrationRow& row) { return row.name == name; });
  return at == rows.end() ? nullptr : &*at;
}

// Per second: the best row's value, or the upper quartile of a row of the calibration.
double rate_of(std::span<const CalibrationRow> rows, std::string_view name) {
  const CalibrationRow* row = find(rows, name);
  if (row == nullptr || !row->value) return 0.0;
  return kGiga * row->high.value_or(*row->value);
}

}  // namespace

CalibrationRow probe_arithmetic(std::chrono::milliseconds time) {
  const FmaPeak peak = measure_fma_peak(time);
  CalibrationRow row;
  row.name = kArithmetic;
  row.unit = "GFLOP/s";
  row.value = peak.highest / kGiga;
  row.count = peak.samples;
  row.note =
      fmt::format("one core, f32, {}: the fastest sample of all probes of the run", peak.vectors);
  return row;
}

std::vector<CalibrationRow> probe_caches(Timer& timer, const CacheSizes& caches,
                                         std::chrono::milliseconds time) {
  std::vector<CalibrationRow> rows;
  for (const ProbeSize& size : probe_sizes(caches, 0)) {
    if (size.bytes == 0) continue;
    BandwidthProbe probe(size.bytes);
    for (const Traffic traffic : {Traffic::read, Traffic::read_write}) {
      const std::vector<double> rates = probe.measure(timer, traffic, time);
      CalibrationRow row;
      row.name = fmt::format("{}{}", kBandwidth, size.level);
      row.unit = "GB/s";
      row.value = *std::max_element(rates.begin(), rates.end());
      row.count = static_cast<std::int64_t>(rates.size());
      row.note =
          fmt::format("one core, {}, {} KiB, {}: the fastest sample of all probes of the run",
                      BandwidthProbe::vectors(), size.bytes / 1024,
                      traffic == Traffic::read ? "read" : "read and written");
      keep_best(rows, row);
    }
  }
  return rows;
}

bool is_best(const CalibrationRow& row) {
  return row.name == kArithmetic || row.name.starts_with(kBandwidth);
}

void keep_best(std::vector<CalibrationRow>& rows, const CalibrationRow& row) {
  const auto known = std::find_if(rows.begin(), rows.end(), [&](const CalibrationRow& other) {
    return other.name == row.name;
  });
  if (known == rows.end()) {
    rows.push_back(row);
    return;
  }
  const std::int64_t samples = known->count + row.count;
  if (row.value.value_or(0.0) > known->value.value_or(0.0)) *known = row;
  known->count = samples;
}

MachineLimits limits_of(std::span<const CalibrationRow> rows, const CacheSizes& caches) {
  MachineLimits limits;
  limits.caches = caches;
  limits.flops_per_second = std::max(rate_of(rows, kArithmetic), rate_of(rows, "fma_peak"));
  for (std::size_t i = 0; i < kLevels.size(); ++i) {
    const std::string_view level = kLevels[i];
    limits.bytes_per_second[i] =
        std::max({rate_of(rows, fmt::format("{}{}", kBandwidth, level)),
                  rate_of(rows, fmt::format("bandwidth_read_{}", level)),
                  rate_of(rows, fmt::format("bandwidth_read_write_{}", level))});
  }
  return limits;
}

std::optional<double> arithmetic_bound_us(const MachineLimits& limits, const BoundedWork& work) {
  if (limits.flops_per_second <= 0.0 || work.flops <= 0.0) return std::nullopt;
  return arith_lower_bound_us(work.flops, limits.flops_per_second * work.threads);
}

std::optional<double> bandwidth_bound_us(const MachineLimits& limits, const BoundedWork& work) {
  const std::array<double, kLevels.size()> caches = {0.0, static_cast<double>(limits.caches.l1),
                                                     static_cast<double>(limits.caches.l2),
                                                     static_cast<double>(limits.caches.l3)};
  double held = 0.0;  // in all caches before the level
  std::optional<double> bound;
  for (std::size_t i = 0; i < kLevels.size(); ++i) {
    held += caches[i] * work.threads;
    const double bytes = i == 0 ? work.moved_bytes : work.distinct_bytes - held;
    const double rate = limits.bytes_per_second[i] * work.threads;
    if (bytes <= 0.0 || rate <= 0.0) continue;
    bound = std::max(bound.value_or(0.0), bytes / rate * kMicro);
  }
  return bound;
}

}  // namespace stepscope
