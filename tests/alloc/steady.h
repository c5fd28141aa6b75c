// Steps of a warm session, counted: what tests of allocations measure.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "backends/execution/session.h"
#include "tests/alloc/attribution.h"

namespace stepscope::alloc {

inline constexpr std::uint64_t kSteps = 4;

struct Workload {
  std::string_view model;
  std::int64_t batch;
};
inline constexpr Workload kWorkloads[] = {{"mlp", 1},        {"mlp", 32},  {"mlp", 512},
                                          {"small_cnn", 32}, {"lenet", 8}, {"chain:50", 1}};

struct Steady {
  std::string backend;
  Mode mode{};
  Workload workload;
  std::string fusion = "off";  // for parse_fusion
};

SessionOptions options_for(const Steady& run, Backend& backend);

struct Measured {
  Count count;
  Counters counters;
  std::uint64_t ops = 0;
};

// Warm, then kSteps steps with their input copied in and waited for, counted.
Measured measure(Session& session, std::int64_t batch);

// "8 = 4 by library (Eigen_v3::internal::parallelize_gemm), 4 by own (unknown)"
std::string summary_of(const Count& count);
// The same with the stack of the first that is not the library's.
std::string text_of(const Count& count);

// Allocations that are not a library's. Fails the test when there were too many to look at each.
std::uint64_t own(const Count& count);

// reference_graph_small_cnn_B32_fused
std::string name_of(const Steady& run);

}  // namespace stepscope::alloc
