// The first steps of the dense net on Fashion-MNIST, on cuda-sim as on the reference backend: real
// images, so that no pixel pattern or scale of generated ones hides an error.
// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <filesystem>

#include "backends/execution/session.h"
#include "backends/registry/registry.h"
#include "bench/data/batches.h"
#include "bench/data/load.h"
#include "graph/passes/fusion.h"

namespace stepscope {
namespace {

constexpr std::size_t kSteps = 20;
constexpr std::int64_t kBatch = 32;
constexpr std::uint64_t kSeed = 1;  // of the parameters and of the order

// Both multiply in double and round once, so what differs are sums of f32 in another order, exp and
// log, and with fusion the rate, which is multiplied in earlier: errors of some 2^-24 a step, which
// twenty steps at rate 0.1 do not let grow. The losses are off by at most 9e-8 of them here; a
// mistake in one gradient shows in the third digit.
constexpr double kTolerance = 1e-6;

struct Arm {
  const char* backend;
  Mode mode;
  RecordAs record_as;
  const char* fusion;
};

std::vector<double> losses_of(const Arm& arm, const Data& data) {
  BackendOptions options;
  if (arm.mode == Mode::graph) options.record_as = arm.record_as;
  const auto backend = Registry::builtin().make(arm.backend, options);
  Session session(*backend, make_model("mlp"),
                  {.mode = arm.mode,
                   .step_batches = {kBatch},
                   .seed = kSeed,
                   .passes = passes_for(parse_fusion(arm.fusion), backend->wishes())});
  const Batcher batcher(data.training());
  const std::vector<std::uint32_t> order = epoch_order(data.training().count, kSeed, 0);
  std::vector<float> x(static_cast<std::size_t>(kBatch * session.model().features));
  std::vector<std::int32_t> labels(kBatch);
  std::vector<double> losses;
  for (std::size_t step = 0; step < kSteps; ++step) {
    batcher.fill(std::span(order).subspan(step * kBatch, kBatch), x, labels);
    session.load(x, labels);
    session.enqueue_step(kBatch);
    losses.push_back(session.loss(kBatch));
  }
  return losses;
}

TEST(CudaSim, FirstLossesOnFashionMnistAreThoseOfTheReference) {
  if (!std::filesystem::exists(kFashionMnistFolder)) {
    GTEST_SKIP() << "no " << kFashionMnistFolder << ": apt-get install dataset-fashion-mnist";
  }
  const Data data = load_data("fashion-mnist");
  const auto wanted = losses_of({"reference", Mode::planned, RecordAs::tape, "off"}, data);
  EXPECT_LT(wanted.back(), 0.6 * wanted.front()) << "nothing was learned";
  constexpr Arm kArms[] = {{"cuda-sim", Mode::eager, RecordAs::capture, "off"},
                           {"cuda-sim", Mode::graph, RecordAs::capture, "off"},
                           {"cuda-sim", Mode::planned, RecordAs::capture, "on"},
                           {"cuda-sim", Mode::graph, RecordAs::nodes, "on"}};
  double worst = 0.0;
  for (const Arm& arm : kArms) {
    SCOPED_TRACE(fmt::format("{}, fusion {}", name(arm.mode), arm.fusion));
    const auto losses = losses_of(arm, data);
    for (std::size_t step = 0; step < kSteps; ++step) {
      const double off = std::abs(losses[step] - wanted[step]) / wanted[step];
      EXPECT_LE(off, kTolerance) << "step " << step << ": " << losses[step] << ", not "
                                 << wanted[step];
      worst = std::max(worst, off);
    }
  }
  fmt::print("losses are off by at most {:.1e} of them\n", worst);
}

}  // namespace
}  // namespace stepscope
