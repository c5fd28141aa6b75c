// Ways: how the device is simulated, and how graphs are recorded, in one run of a suite.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <ostream>
#include <string>

#include "backends/cuda/cuda.h"
#include "tests/backends/cuda/backend/fixture.h"

namespace stepscope::cuda {

struct Way {
  const char* name;
  RecordAs record_as;
  cudasim::Settings device{};
};

inline void PrintTo(const Way& way, std::ostream* out) { *out << way.name; }

// Every schedule with every order, one after the other: what a suite runs hundreds of takes the nth
// for its nth, so that all of them are met at the cost of one.
inline constexpr std::uint64_t kDevices = 12;
inline cudasim::Settings nth_device(std::uint64_t n) {
  constexpr std::array kSchedules = {cudasim::Schedule::lazy, cudasim::Schedule::others_first,
                                     cudasim::Schedule::seeded, cudasim::Schedule::eager};
  constexpr std::array kOrders = {cudasim::Order::ascending, cudasim::Order::seeded,
                                  cudasim::Order::descending};
  cudasim::Settings settings;
  settings.schedule = kSchedules[n % kSchedules.size()];
  settings.blocks = settings.threads = kOrders[n % kOrders.size()];  // 3 and 4 share no factor
  settings.seed = n + 1;
  return settings;
}

// Captured and of explicit nodes, on two devices that share neither schedule nor order.
inline std::array<Way, 2> nth_ways(std::uint64_t n) {
  return {Way{"capture", RecordAs::capture, nth_device(n)},
          Way{"nodes", RecordAs::nodes, nth_device(n + 5)}};
}
inline std::unique_ptr<Backend> make_backend(const Way& way) {
  BackendOptions options;
  options.record_as = way.record_as;
  return make_backend(options);
}

// A device for each case; at its end nothing is left on it, and no lint was found.
class BackendTest : public test::DeviceTest {
 protected:
  explicit BackendTest(const Way& way) { settings_ = way.device; }
};

// Convolutions, pools and what is fused around them; there are no layouts to reorder between.
inline bool is_left_out(OpKind kind) {
  using enum OpKind;
  for (const OpKind each : {Conv2d, Conv2dInputGrad, Conv2dWeightGrad, MaxPool, MaxPoolGrad,
                            AvgPool, AvgPoolGrad, Reorder, Conv2dBias, Conv2dInputReluGrad,
                            MaxPoolReluGrad, Conv2dWeightBiasGrad, Conv2dWeightUpdate}) {
    if (kind == each) return true;
  }
  return false;
}

}  // namespace stepscope::cuda
