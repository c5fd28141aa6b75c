// Gradients of the examples against differences of their losses, in f64 on the reference.
// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include <cmath>

#include "backends/registry/registry.h"
#include "ops/base/philox.h"
#include "tests/examples/examples.h"
#include "tests/support/tensor_bytes.h"

namespace stepscope::test {
namespace {

constexpr std::int64_t kRows = 2;
constexpr int kPlaces = 2;           // of each parameter
constexpr double kStep = 1e-5;       // of a difference: error about its square, 1e-10
constexpr double kTolerance = 1e-7;  // of a gradient beside 1, and that of a ReLU's kink aside

class ExampleGradient : public testing::TestWithParam<std::string> {
 protected:
  std::vector<double> read(const std::string& name) { return session_.read(name); }
  void write(const std::string& name, const std::vector<double>& elements) {
    session_.memory().write(session_.stream(), name, to_bytes(elements, DType::f64));
  }
  double loss() { return session_.evaluate(kRows).loss; }

  double difference(const std::string& name, std::size_t place) {
    const std::vector<double> before = read(name);
    std::vector<double> moved = before;
    moved[place] = before[place] + kStep;
    write(name, moved);
    const double above = loss();
    moved[place] = before[place] - kStep;
    write(name, moved);
    const double below = loss();
    write(name, before);
    return (above - below) / (2 * kStep);
  }

  std::unique_ptr<Backend> backend_ = Registry::builtin().make("reference", {});
  Session session_{*backend_, example_model(GetParam(), {.rate = 1.0}),
                   SessionOptions{.mode = Mode::planned,
                                  .step_batches = {kRows},
                                  .evaluation_batches = {kRows},
                                  .dtype = DType::f64}};
};

TEST_P(ExampleGradient, IsTheDifferenceOfLosses) {
  load_rows(session_, kRows, 7);
  session_.enqueue_step(kRows);  // away from the start, where whole gradients may be zero
  std::map<std::string, std::vector<double>> before;
  std::map<std::string, std::map<std::size_t, double>> differences;
  Philox draws(5);
  for (const Initial& initial : session_.model().initial) {
    if (initial.name.starts_with("control.")) continue;
    before[initial.name] = read(initial.name);
    for (int i = 0; i < kPlaces; ++i) {
      const std::size_t place = draws.below(before[initial.name].size());
      differences[initial.name][place] = difference(initial.name, place);
    }
  }
  session_.enqueue_step(kRows);  // by plain SGD at rate one: what it takes off is the gradient
  for (const auto& [name, places] : differences) {
    const std::vector<double> after = read(name);
    for (const auto& [place, expected] : places) {
      const double gradient = before[name][place] - after[place];
      EXPECT_NEAR(gradient, expected, kTolerance * (1.0 + std::abs(expected)))
          << name << " at " << place;
    }
  }
}

INSTANTIATE_TEST_SUITE_P(All, ExampleGradient, testing::ValuesIn(example_names()),
                         [](const auto& each) { return each.param; });

}  // namespace
}  // namespace stepscope::test
