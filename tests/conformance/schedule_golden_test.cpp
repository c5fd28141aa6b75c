// Rates by schedule against those of PyTorch's schedulers, which no part of stepscope wrote.
// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include <cmath>

#include "ops/models/schedule.h"
#include "tests/conformance/cells.h"
#include "tests/conformance/run_op.h"
#include "tests/support/tensor_bytes.h"

namespace stepscope::conformance {
namespace {

struct Golden {
  std::string_view schedule;
  int finished;
  double rate;
};
constexpr Golden kGolden[] = {
#include "tests/conformance/schedule_golden.inc"
};
constexpr double kRate = 0.1;

double computed(Backend& backend, DType dtype, const Golden& golden) {
  const TensorType rate{Shape{}, dtype}, step{Shape{}, DType::i32};
  const OpSite site{OpKind::ScheduledRate, parse_schedule(golden.schedule), {rate, step}, {rate}};
  const auto kernel = backend.lower(site);
  const std::vector<double> finished = {static_cast<double>(golden.finished)};
  const RunResult result = run_op(
      backend, *kernel,
      {test::to_bytes(std::vector<double>{kRate}, dtype), test::to_bytes(finished, step.dtype)});
  EXPECT_EQ(result.damage, std::vector<std::string>{});
  return test::to_doubles(result.outputs.at(0), dtype).at(0);
}

// PyTorch goes from each step's rate to the next one's, with a few roundings of f64 in each.
double error_of(const Golden& golden) {
  constexpr double kRoundings = 4.0;
  return kRoundings * 0x1p-53 * (golden.finished + 1) * std::max(kRate, golden.rate);
}

TEST(ScheduleGolden, OfTheReferenceInF64) {
  for (const Golden& golden : kGolden) {
    EXPECT_NEAR(computed(backend("reference"), DType::f64, golden), golden.rate, error_of(golden))
        << golden.schedule << " after " << golden.finished;
  }
}

TEST(ScheduleGolden, OfEachBackendInF32) {
  for (const std::string& name : backend_names()) {
    if (!backend(name).info().computes) continue;
    for (const Golden& golden : kGolden) {
      const double rate = computed(backend(name), DType::f32, golden);
      // The given rate and the result are rounded once each.
      EXPECT_NEAR(rate, golden.rate, 0x1p-23 * golden.rate + error_of(golden))
          << name << ": " << golden.schedule << " after " << golden.finished;
      EXPECT_EQ(rate, computed(backend("reference"), DType::f32, golden))
          << name << ": " << golden.schedule << " after " << golden.finished;
    }
  }
}

}  // namespace
}  // namespace stepscope::conformance
