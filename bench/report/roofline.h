// What bounds a step: the ceilings that the calibration found, and where a step stands below them.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "bench/record/record.h"

namespace stepscope {

// Of one core. Empty: not measured.
struct Ceilings {
  std::optional<double> gflops;  // GFLOP/s
  struct Bandwidth {
    std::string level;  // l1, l2, l3, dram
    double gb_per_s = 0;
  };
  std::vector<Bandwidth> bandwidths;  // from the core outwards
};

// As the bounds of arms are made (bench/measure/limits.h): of each rate the best row and, where it
// is higher or there is none, the upper quartile of the rows that probed it.
Ceilings ceilings_of(const Record& record);

// Where a step stands, at its median time in throughput.
struct RooflinePoint {
  double intensity = 0;  // operations per byte of the fewest that must move
  double gflops = 0;     // GFLOP/s
  double gb_per_s = 0;   // GB/s (1e9), of the fewest bytes
};
// Nothing for an arm that was not timed in blocks, or whose ops have no account of their work.
std::optional<RooflinePoint> roofline_point(const ArmRecord& arm);

}  // namespace stepscope
