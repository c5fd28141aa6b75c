// MachineLimits: the best rates of a core that were probed, and the shortest times that follow from
// them for some work. Bounds, neither times of kernels nor utilizations.
//
// A probe is a bound only if nothing was ever faster, and the clock of a shared machine changes
// within seconds. So what counts is the best sample of all probes of a run (rows `..._best` of the
// calibration, one probe before and behind what is timed, in every process), never a median.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <chrono>
#include <optional>
#include <span>
#include <string_view>
#include <vector>

#include "bench/measure/cache_sizes.h"
#include "bench/measure/timer.h"
#include "bench/record/samples.h"

namespace stepscope {

inline constexpr std::array<std::string_view, 4> kLevels = {"l1", "l2", "l3", "dram"};

struct MachineLimits {
  // Of one core; 0: not known.
  double flops_per_second = 0.0;                          // f32
  std::array<double, kLevels.size()> bytes_per_second{};  // by kLevels
  CacheSizes caches;                                      // of one core, bytes
};

// Row fma_peak_best of a probe of about `time`; the value is its fastest sample.
CalibrationRow probe_arithmetic(std::chrono::milliseconds time = std::chrono::milliseconds(5));
// Rows bandwidth_best_{l1,l2,l3} of probes of about `time` each: the fastest sample, reading or
// reading and writing. Levels without a buffer that fits are left out, and so is dram, whose buffer
// takes longer to fill than all of this. Takes up to some ten MiB meanwhile.
std::vector<CalibrationRow> probe_caches(
    Timer& timer, const CacheSizes& caches = cache_sizes(),
    std::chrono::milliseconds time = std::chrono::milliseconds(3));

// Whether the row is the best of several probes: it has a value and no quartiles.
bool is_best(const CalibrationRow& row);
// Puts the row among `rows`; of two with one name the faster stays, with the samples of both.
void keep_best(std::vector<CalibrationRow>& rows, const CalibrationRow& row);

// From the rows of a calibration: of each rate the best row and, where it is higher or there is no
// best row, the upper quartile of fma_peak or of bandwidth_read_..., bandwidth_read_write_....
MachineLimits limits_of(std::span<const CalibrationRow> rows, const CacheSizes& caches);

// What one step, or one call, does. Steps follow each other: what a cache holds at the end of one
// is there for the next.
struct BoundedWork {
  double flops = 0.0;
  double moved_bytes = 0.0;     // to and from the core at least: each operand of each op once
  double distinct_bytes = 0.0;  // of memory that is touched in every step; 0: not known
  int threads = 1;
};

// Microseconds; nothing where a rate or the work is not known. Every thread is granted a core of
// its own at the best rate.
std::optional<double> arithmetic_bound_us(const MachineLimits& limits, const BoundedWork& work);
// The longest of what the levels give: all bytes that move, at the rate of the first level; and for
// each further one the distinct bytes that the caches before it cannot hold, at its rate. Whatever
// replaces a cache's content, and however ops share it, no step moves less.
std::optional<double> bandwidth_bound_us(const MachineLimits& limits, const BoundedWork& work);

}  // namespace stepscope
