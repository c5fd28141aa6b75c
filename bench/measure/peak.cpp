// The theoretical peak of a device.
// SPDX-License-Identifier: Apache-2.0
#include "bench/measure/peak.h"

#include <array>

#include "ops/base/check.h"

namespace stepscope {

double peak_flops(const DeviceRates& rates) {
  check(rates.sm_count > 0 && rates.cores_per_sm > 0 && rates.clock_hz > 0.0, Fault::bad_input,
        "peak: {} SM, {} cores each, {} Hz: each must be above 0", rates.sm_count,
        rates.cores_per_sm, rates.clock_hz);
  return 2.0 * static_cast<double>(rates.sm_count) * static_cast<double>(rates.cores_per_sm) *
         rates.clock_hz;
}

std::string peak_text(const DeviceRates& rates) {
  return fmt::format("{} SM x {} cores x {:.3f} GHz x 2 = {:.4f} TFLOP/s", rates.sm_count,
                     rates.cores_per_sm, rates.clock_hz * 1e-9, peak_flops(rates) * 1e-12);
}

std::optional<std::int64_t> cores_per_sm(int major, int minor) {
  struct Row {
    int major, minor;  // minor -1: any
    std::int64_t cores;
  };
  constexpr std::array<Row, 9> kRows{{{5, -1, 128},
                                      {6, 0, 64},
                                      {6, -1, 128},
                                      {7, -1, 64},
                                      {8, 0, 64},
                                      {8, -1, 128},
                                      {9, -1, 128},
                                      {10, -1, 128},
                                      {12, -1, 128}}};
  for (const Row& row : kRows) {
    if (row.major == major && (row.minor == minor || row.minor < 0)) return row.cores;
  }
  return std::nullopt;
}

double arith_lower_bound_us(double flops, double peak_flops) {
  check(flops >= 0.0 && peak_flops > 0.0, Fault::bad_input,
        "peak: {} operations at {} a second give no bound", flops, peak_flops);
  return flops / peak_flops * 1e6;
}

}  // namespace stepscope
