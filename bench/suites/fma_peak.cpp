// fma_peak: prints the arithmetic peak of one core, in GFLOP/s, as a line of JSON. A script runs it
// between what it times.
// SPDX-License-Identifier: Apache-2.0
#include "bench/measure/fma_peak.h"

#include <fmt/format.h>

int main() {
  const stepscope::FmaPeak peak = stepscope::measure_fma_peak();
  fmt::print(
      "{{\"gflops\": {:.2f}, \"lowest\": {:.2f}, \"highest\": {:.2f}, \"vectors\": \"{}\"}}\n",
      peak.flops_per_second * 1e-9, peak.lowest * 1e-9, peak.highest * 1e-9, peak.vectors);
}
