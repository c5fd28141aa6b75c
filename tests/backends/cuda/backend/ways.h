// Ways: how the device is simulated, and how graphs are recorded, in one run of a suite.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>
#include <ostream>
#include <string>

#include "backends/cuda/cuda.h"
#include "backends/registry/registry.h"
#include "tests/backends/cuda/sim/fixture.h"

namespace stepscope::cuda {

struct Way {
  const char* name;
  RecordAs record_as;
  cudasim::Schedule schedule;
  cudasim::Order blocks, threads;
};

// Work as late as may be and all that runs in ascending order; and the other way round.
inline constexpr Way kCapture{"capture", RecordAs::capture, cudasim::Schedule::lazy,
                              cudasim::Order::ascending, cudasim::Order::ascending};
inline constexpr Way kNodes{"nodes", RecordAs::nodes, cudasim::Schedule::seeded,
                            cudasim::Order::seeded, cudasim::Order::descending};
inline constexpr Way kWays[] = {kCapture, kNodes};

inline void PrintTo(const Way& way, std::ostream* out) { *out << way.name; }

inline cudasim::Settings settings_of(const Way& way) {
  cudasim::Settings settings;
  settings.schedule = way.schedule;
  settings.blocks = way.blocks;
  settings.threads = way.threads;
  return settings;
}

// By name, of a registry to which it was added by an explicit call.
inline std::unique_ptr<Backend> make_backend(const Way& way) {
  Registry registry = Registry::builtin();
  registry.add({"cuda-sim", make_backend});
  BackendOptions options;
  options.record_as = way.record_as;
  return registry.make("cuda-sim", options);
}

// A device for each case; at its end nothing is left on it, and no lint was found.
class BackendTest : public cudasim::SimTest {
 protected:
  explicit BackendTest(const Way& way) { settings_ = settings_of(way); }
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
