// LabReport: what a run of `stepscope lab` found, as plain data, and its two forms: the file
// measure_report.json, and a table. docs/lab.md describes the file.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "bench/record/record.h"

namespace stepscope {

// A raw list in milliseconds, and its summary; quartiles are of type 7. Empty: not measured.
struct LabList {
  std::vector<double> ms;
  double min = 0, q1 = 0, median = 0, q3 = 0, max = 0;
};

struct LabReport {
  std::string status = "complete";  // or not-run: a plan, in which nothing is measured
  std::string status_reason;
  std::string version, created;
  std::string preset;  // lab-cpu, gpu-plan
  std::string device;  // cpu, gpu
  std::string backend, mode;
  std::string model = "small_cnn", optimizer = "sgd", dtype = "f32";
  double rate = 0.01;
  std::string data;
  int threads = 1;
  std::uint64_t seed = 0;
  std::int64_t batch_size = 0, warmup = 0, repeat = 0;
  std::vector<Fact> environment;
  // Of each repeat: the batch made, the step with its transfer, both with all that lies between
  // their stamps; the residual is total less data less step.
  LabList data_ms, step_ms, total_ms, residual_ms;
  // What a record keeps: the totals in nanoseconds with their stamps, those of the warm-up apart.
  Samples total, warmup_total;
};

inline constexpr std::string_view kLabShuffle =
    "outside: the order of a repeat is drawn before its first stamp, so that total_ms does not "
    "hold it";
inline constexpr std::string_view kLabReadback =
    "inside step_ms: reading the loss waits for the device";

// Measured values of a report that was not run are null. Ends with a line break.
std::string lab_json(const LabReport& report);
std::string lab_text(const LabReport& report);

}  // namespace stepscope
