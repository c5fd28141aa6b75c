// Losses, gradients and parameters of ten steps against PyTorch: the reference in f64 to 1e-9,
// every backend in f32 to 1e-5 where f32 can, each in all three modes, with and without fusion.
// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "backends/execution/session.h"
#include "backends/registry/registry.h"
#include "graph/passes/fusion.h"
#include "tests/golden/golden_cases.h"
#include "tests/support/backends.h"
#include "tests/support/tensor_bytes.h"

namespace stepscope::golden {
namespace {

// What ten steps in f64 may differ by when sums are taken in another order.
constexpr double kTolerance64 = 1e-9;
// In f32, for the losses that fair_losses_f32() names; steps.json says where others' f32 lies.
constexpr double kTolerance32 = 1e-5;

struct Run {
  const Case* golden = nullptr;
  std::string backend;
  DType dtype{};
  Mode mode{};
  std::string fusion;  // for parse_fusion
};

// The plain loops of the reference take most of the time here: it runs what is fused in one mode.
// That modes agree bit for bit is tested elsewhere.
std::vector<Run> runs() {
  std::vector<Run> all;
  for (const Case& golden : cases()) {
    const Model model = make_model(golden.model, golden.optimizer);
    const std::vector<std::string> backends = test::backends_that_run(Registry::builtin(), model);
    for (const Mode mode : {Mode::eager, Mode::planned, Mode::graph}) {
      for (const std::string fusion : {"off", "on"}) {
        if (fusion == "off" || mode == Mode::graph) {
          all.push_back({&golden, "reference", DType::f64, mode, fusion});
          all.push_back({&golden, "reference", DType::f32, mode, fusion});
        }
        for (const std::string& backend : backends) {
          if (backend == "null" || backend == "reference") continue;
          all.push_back({&golden, backend, DType::f32, mode, fusion});
        }
      }
    }
  }
  return all;
}

double norm(const std::vector<double>& elements) {
  double sum = 0.0;
  for (const double each : elements) sum += each * each;
  return std::sqrt(sum);
}

class GoldenSteps : public testing::TestWithParam<Run> {
 protected:
  const Case& golden() const { return *GetParam().golden; }
  bool is_f64() const { return GetParam().dtype == DType::f64; }

  void SetUp() override {
    backend_ = Registry::builtin().make(GetParam().backend, {.threads = 1});
    session_ = std::make_unique<Session>(
        *backend_, make_model(golden().model, golden().optimizer),
        SessionOptions{.mode = GetParam().mode,
                       .step_batches = {golden().batch},
                       .evaluation_batches = {},
                       .dtype = GetParam().dtype,
                       .passes = passes_for(parse_fusion(GetParam().fusion), backend_->wishes())});
    const Graph& graph = session_->step(golden().batch).graph();
    for (const Value& value : graph.values()) {
      if (value.role == Role::parameter && value.sharing == Sharing::own && value.producer < 0) {
        parameters_.push_back(value.name);
      }
    }
    ASSERT_EQ(parameters_.size(), golden().parameters_after.size());
    write_parameters();
  }

  void write(std::string_view value_name, const std::vector<double>& elements) {
    session_->memory().write(session_->stream(), value_name,
                             test::to_bytes(elements, GetParam().dtype));
  }

  void write_parameters() {
    for (std::size_t p = 0; p < parameters_.size(); ++p) {
      write(parameters_[p],
            u(p, golden().parameters_after[p].elements, golden().parameter_scale, 0.0));
    }
  }

  double step(std::int64_t t) {
    write("x", u(1000 + static_cast<std::uint64_t>(t), golden().input_elements, 1.0, 0.5));
    const std::vector<std::int32_t> labels = labels_of(golden(), t);
    session_->memory().write(session_->stream(), "labels", std::as_bytes(std::span(labels)));
    session_->step(golden().batch).enqueue(session_->stream());  // what load() did not write
    return session_->loss(golden().batch);
  }

  // The gradient of the first step, from what its update left behind.
  std::vector<double> first_gradient(std::size_t p, const std::vector<double>& before) {
    const OptimizerSpec& optimizer = golden().optimizer;
    const std::string& parameter = parameters_[p];
    switch (optimizer.kind) {
      case OptimizerSpec::Kind::sgd:
        break;
      case OptimizerSpec::Kind::momentum:
        return session_->read(parameter + ".velocity");
      case OptimizerSpec::Kind::adam: {
        std::vector<double> gradient = session_->read(parameter + ".m");
        for (double& each : gradient) each /= 1.0 - optimizer.beta1;
        return gradient;
      }
    }
    std::vector<double> gradient = session_->read(parameter);
    for (std::size_t i = 0; i < gradient.size(); ++i) {
      gradient[i] = (before[i] - gradient[i]) / optimizer.rate;
    }
    return gradient;
  }

  void expect_first_gradients(const std::vector<std::vector<double>>& before) {
    for (std::size_t p = 0; p < parameters_.size(); ++p) {
      SCOPED_TRACE(parameters_[p]);
      const double expected = golden().gradient_norms_step0[p];
      EXPECT_NEAR(norm(first_gradient(p, before[p])), expected, kTolerance64 * expected);
    }
  }

  void expect_parameters_after() {
    for (std::size_t p = 0; p < parameters_.size(); ++p) {
      SCOPED_TRACE(parameters_[p]);
      const Parameter& expected = golden().parameters_after[p];
      const std::vector<double> got = session_->read(parameters_[p]);
      ASSERT_EQ(got.size(), expected.elements);
      const double root = std::sqrt(static_cast<double>(expected.elements));
      EXPECT_NEAR(norm(got), expected.norm, kTolerance64 * expected.norm);
      double sum = 0.0;
      for (const double each : got) sum += each;
      EXPECT_NEAR(sum, expected.sum, kTolerance64 * expected.norm * root);
      for (const Parameter::Sample& sample : expected.samples) {
        // Relative to itself, or to a typical element where the sample is small.
        const double size = std::max(std::abs(sample.value), expected.norm / root);
        EXPECT_NEAR(got[sample.index], sample.value, kTolerance64 * size) << sample.index;
      }
    }
  }

  std::unique_ptr<Backend> backend_;
  std::unique_ptr<Session> session_;
  std::vector<std::string> parameters_;
};

TEST_P(GoldenSteps, MatchPyTorch) {
  const double tolerance = is_f64() ? kTolerance64 : kTolerance32;
  const std::size_t steps = is_f64() ? golden().losses.size() : fair_losses_f32(golden());
  std::vector<std::vector<double>> before;
  for (const std::string& parameter : parameters_) before.push_back(session_->read(parameter));
  for (std::size_t t = 0; t < steps; ++t) {
    EXPECT_NEAR(step(static_cast<std::int64_t>(t)), golden().losses[t],
                tolerance * golden().losses[t])
        << "step " << t;
    if (t == 0 && is_f64()) expect_first_gradients(before);
  }
  if (is_f64()) expect_parameters_after();
}

INSTANTIATE_TEST_SUITE_P(All, GoldenSteps, testing::ValuesIn(runs()), [](const auto& made) {
  const Run& run = made.param;
  return test::case_name(fmt::format("{}_{}_{}_{}{}", case_name(*run.golden), run.backend,
                                     name(run.dtype), name(run.mode),
                                     run.fusion == "on" ? "_fused" : ""));
});

}  // namespace
}  // namespace stepscope::golden
