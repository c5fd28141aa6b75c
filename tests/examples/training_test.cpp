// The examples trained: modes by bits, fused and other backends beside the reference, and twins of
// built-in models by bits.
// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

#include "backends/registry/registry.h"
#include "graph/passes/fusion.h"
#include "tests/examples/examples.h"
#include "tests/support/backends.h"

namespace stepscope::test {
namespace {

constexpr Mode kModes[] = {Mode::eager, Mode::planned, Mode::graph};
constexpr std::int64_t kRows = 3;
constexpr int kSteps = 3;
constexpr double kTolerance = 1e-5;  // f32, after three steps in another order of sums

struct Trained {
  std::vector<double> losses;
  std::map<std::string, std::vector<std::byte>> bytes;
  std::map<std::string, std::vector<double>> values;
};

std::unique_ptr<Session> session_of(Backend& backend, const Model& model, Mode mode,
                                    const std::string& fusion) {
  return std::make_unique<Session>(
      backend, model,
      SessionOptions{.mode = mode,
                     .step_batches = {kRows},
                     .evaluation_batches = {},
                     .passes = passes_for(parse_fusion(fusion), backend.wishes())});
}

Trained train(const std::string& backend_name, const Model& model, Mode mode,
              const std::string& fusion, int steps = kSteps) {
  const std::unique_ptr<Backend> backend = Registry::builtin().make(backend_name, {.threads = 1});
  const std::unique_ptr<Session> session = session_of(*backend, model, mode, fusion);
  Trained trained;
  for (int step = 0; step < steps; ++step) {
    load_rows(*session, kRows, static_cast<std::uint64_t>(step));
    session->enqueue_step(kRows);
    trained.losses.push_back(session->loss(kRows));
  }
  trained.bytes = session->parameters_and_states();
  for (const Initial& initial : model.initial) {
    trained.values[initial.name] = session->read(initial.name);
  }
  return trained;
}

void expect_close(const Trained& got, const Trained& expected) {
  for (std::size_t i = 0; i < expected.losses.size(); ++i) {
    EXPECT_NEAR(got.losses[i], expected.losses[i],
                kTolerance * std::max(1.0, std::abs(expected.losses[i])))
        << "step " << i;
  }
  for (const auto& [name, values] : expected.values) {
    const std::vector<double>& others = got.values.at(name);
    for (std::size_t i = 0; i < values.size(); ++i) {
      ASSERT_NEAR(others[i], values[i], kTolerance * std::max(1.0, std::abs(values[i])))
          << name << " at " << i;
    }
  }
}

class ExampleTraining : public testing::TestWithParam<std::string> {
 protected:
  const Model model_ = example_model(GetParam(), {.rate = 0.01});
};

TEST_P(ExampleTraining, ModesAgreeByBitsAndOthersClosely) {
  const Trained reference = train("reference", model_, Mode::eager, "off");
  EXPECT_TRUE(std::isfinite(reference.losses.back()));
  EXPECT_NE(reference.losses[0], reference.losses[1]);
  for (const Mode mode : {Mode::planned, Mode::graph}) {
    const Trained other = train("reference", model_, mode, "off");
    EXPECT_EQ(other.losses, reference.losses) << name(mode);
    EXPECT_EQ(other.bytes, reference.bytes) << name(mode);
  }
  expect_close(train("reference", model_, Mode::graph, "on"), reference);
  for (const std::string& backend : backends_that_run(Registry::builtin(), model_)) {
    if (backend == "null" || backend == "reference") continue;
    SCOPED_TRACE(backend);
    const Trained eager = train(backend, model_, Mode::eager, "off");
    expect_close(eager, reference);
    for (const std::string fusion : {"off", "on"}) {
      SCOPED_TRACE(fusion);
      const Trained first = train(backend, model_, Mode::eager, fusion);
      expect_close(first, reference);
      for (const Mode mode : {Mode::planned, Mode::graph}) {
        EXPECT_EQ(train(backend, model_, mode, fusion).bytes, first.bytes) << name(mode);
      }
    }
  }
}

// Within 1.02 of the bound, but for the rounding up of each of the values that lie there.
TEST_P(ExampleTraining, PlansAreCloseToTheBound) {
  for (const std::string& name : backends_that_run(Registry::builtin(), model_)) {
    const std::unique_ptr<Backend> backend = Registry::builtin().make(name, {.threads = 1});
    for (const std::string fusion : {"off", "on"}) {
      const auto session = session_of(*backend, model_, Mode::planned, fusion);
      const Plan& plan = session->step(kRows).program().plan;
      const double rounding =
          static_cast<double>(plan.alignment) * static_cast<double>(plan.slots.size());
      EXPECT_LE(static_cast<double>(plan.bytes.arena),
                1.02 * static_cast<double>(plan.bytes.bound) + rounding)
          << name << ", fusion " << fusion;
      EXPECT_LE(plan.bytes.arena, plan.bytes.no_reuse);
    }
  }
}

INSTANTIATE_TEST_SUITE_P(All, ExampleTraining, testing::ValuesIn(example_names()),
                         [](const auto& each) { return each.param; });

// A file that says the same as a built-in model trains the same, bit for bit.
TEST(ExampleTwins, TrainAsTheBuiltInModels) {
  for (const auto& [name, steps] : {std::pair("mlp", 20), {"small_cnn", 5}, {"lenet", 3}}) {
    for (const auto kind : {OptimizerSpec::Kind::sgd, OptimizerSpec::Kind::adam}) {
      const OptimizerSpec optimizer{.kind = kind, .rate = 0.05};
      for (const Mode mode : kModes) {
        SCOPED_TRACE(
            fmt::format("{} by {} in mode {}", name, stepscope::name(kind), stepscope::name(mode)));
        const Trained twin = train("reference", example_model(name, optimizer), mode, "off", steps);
        const Trained built = train("reference", make_model(name, optimizer), mode, "off", steps);
        EXPECT_EQ(twin.losses, built.losses);
        EXPECT_EQ(twin.bytes, built.bytes);
      }
    }
  }
}

}  // namespace
}  // namespace stepscope::test
