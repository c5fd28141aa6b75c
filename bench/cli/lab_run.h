// The lab's measurement: data, step and total of single batches, as a lecture would time them.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <functional>
#include <span>
#include <string>
#include <string_view>

#include "backends/execution/session.h"
#include "bench/data/load.h"
#include "bench/measure/timer.h"
#include "bench/report/lab_report.h"

namespace stepscope::cli {

struct LabPreset {
  std::string_view name;
  std::string_view device;  // cpu, gpu
  std::int64_t warmup, repeat;
};
inline constexpr LabPreset kLabPresets[] = {{"lab-cpu", "cpu", 3, 10}, {"gpu-plan", "gpu", 10, 30}};
inline constexpr std::int64_t kLabBatch = 32;
inline constexpr std::uint64_t kLabSeed = 20261020;
inline constexpr double kLabRate = 0.01;

// Throws bad_input with the nearest name.
const LabPreset& lab_preset(std::string_view name);

// Fills the four lists: `warmup` repeats that are not kept, then `repeat` that are. Every repeat
// draws a new order, then: wait, stamp, first batch of that order made, step with its transfer
// and the reading of its loss, stamp. `before_each` may throw to stop.
void time_lab(Session& session, const Data& data, LabReport& report, Timer& timer,
              const std::function<void()>& before_each);

// Fills in the summary; requires a list that is not empty.
void summarize(LabList& list);

}  // namespace stepscope::cli
