// Fused and unfused steps train alike: each pass alone and all together, on the oracle. In f64 what
// differs is rounding alone, so a wrong operand or order cannot hide.
// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

#include "graph/passes/fusion.h"
#include "ops/ir/copy.h"
#include "tests/backends/execution/training.h"
#include "tests/support/tensor_bytes.h"

namespace stepscope {
namespace {

using test::Trace;

constexpr std::int64_t kRows = 8;

struct Trained {
  Trace trace;
  DType dtype = DType::f32;
  std::vector<PassReport> reports;

  std::vector<double> end(const std::string& name) const {
    return test::to_doubles(trace.end.at(name), name == kStepCount ? DType::i32 : dtype);
  }
};

struct Setting {
  std::string backend = "reference";
  std::string model = "mlp:12-9-4";
  std::string fusion = "on";
  OptimizerSpec optimizer;
  DType dtype = DType::f64;
  int steps = 1;
  std::int64_t rows = kRows;
  Mode mode = Mode::planned;
};

// The oracle computes all ops, so it is given what the passes make for any backend.
Wishes wishes_of(Backend& backend) {
  Wishes wishes = backend.wishes();
  if (backend.info().name == "reference") {
    wishes.relu_mask = true;
    wishes.small_product = 4096;
  }
  return wishes;
}

// With passes from outside, or those of the setting's text.
Trained trained(const Setting& setting, std::vector<Pass> passes = {}) {
  const auto backend = test::make_backend({setting.backend, 1});
  if (passes.empty()) passes = passes_for(parse_fusion(setting.fusion), wishes_of(*backend));
  Session session(*backend, make_model(setting.model, setting.optimizer),
                  {.mode = setting.mode,
                   .step_batches = {setting.rows},
                   .evaluation_batches = {},
                   .dtype = setting.dtype,
                   .passes = std::move(passes)});
  Trained result{.dtype = setting.dtype};
  test::train(session, setting.rows, setting.steps, result.trace);
  result.reports = session.pass_reports(setting.rows);
  return result;
}

Trained unfused(Setting setting) {
  setting.fusion = "off";
  return trained(setting);
}

// Largest relative difference of the losses.
double loss_difference(const Trained& a, const Trained& b) {
  double worst = 0.0;
  for (std::size_t i = 0; i < a.trace.losses.size(); ++i) {
    const double one = a.trace.losses[i], other = b.trace.losses[i];
    worst = std::max(worst, std::abs(one - other) / std::abs(one));
  }
  return worst;
}

// Largest difference of a parameter or state, as a vector, relative to its length.
double end_difference(const Trained& a, const Trained& b) {
  double worst = 0.0;
  for (const auto& [name, bytes] : a.trace.end) {
    const std::vector<double> one = a.end(name), other = b.end(name);
    double square = 0.0, difference = 0.0;
    for (std::size_t i = 0; i < one.size(); ++i) {
      square += one[i] * one[i];
      difference += (one[i] - other[i]) * (one[i] - other[i]);
    }
    worst = std::max(worst, std::sqrt(difference / (square > 0.0 ? square : 1.0)));
  }
  return worst;
}

void expect_alike(const Trained& a, const Trained& b, double tolerance) {
  EXPECT_EQ(a.trace.losses.size(), b.trace.losses.size());
  EXPECT_LE(loss_difference(a, b), tolerance);
  EXPECT_LE(end_difference(a, b), tolerance);
}

// ---- Each pass alone, and all of them.

struct FusionCase {
  std::string model;
  OptimizerSpec::Kind optimizer;
  std::string fusion;
};

std::vector<FusionCase> all_cases() {
  std::vector<FusionCase> cases;
  for (const char* model : {"mlp:12-9-7-4", "mlp_tanh:12-9-4", "small_cnn", "lenet"}) {
    for (const auto kind :
         {OptimizerSpec::Kind::sgd, OptimizerSpec::Kind::momentum, OptimizerSpec::Kind::adam}) {
      for (const std::string& pass : fusion_names()) {
        if (pass != "layout") cases.push_back({model, kind, pass});
      }
      cases.push_back({model, kind, "on"});
    }
    for (const std::string& pass : fusion_names()) {
      cases.push_back({model, OptimizerSpec::Kind::sgd, "-" + pass});
    }
  }
  return cases;
}

class FusedSteps : public testing::TestWithParam<FusionCase> {};

// Adam divides by the size of a gradient, and so makes rounding of one near zero visible.
TEST_P(FusedSteps, TrainAsUnfusedOnes) {
  const auto& [model, kind, fusion] = GetParam();
  const Setting setting{.model = model, .fusion = fusion, .optimizer = {.kind = kind}, .steps = 3};
  expect_alike(unfused(setting), trained(setting),
               kind == OptimizerSpec::Kind::adam ? 1e-7 : 1e-13);
}

std::string name_of(const testing::TestParamInfo<FusionCase>& info) {
  const FusionCase& each = info.param;
  const bool all_but = each.fusion.starts_with('-');
  return test::case_name(fmt::format("{}_{}_{}_{}", each.model, name(each.optimizer),
                                     all_but ? "without" : "with",
                                     each.fusion.substr(all_but ? 1 : 0)));
}

INSTANTIATE_TEST_SUITE_P(Each, FusedSteps, testing::ValuesIn(all_cases()), name_of);

TEST(FusedStep, OfAnMlpTrainsAHundredStepsWithinAMillionth) {
  Setting setting{.model = "mlp:784-128-10", .dtype = DType::f32, .rows = 32};
  expect_alike(unfused(setting), trained(setting), 1e-6);
  setting.steps = 100;
  const Trained plain = unfused(setting);
  const Trained fused = trained(setting);
  expect_alike(plain, fused, 1e-6);
  EXPECT_LT(plain.trace.losses.back(), 10.0) << "it diverged, and a comparison means nothing";
  EXPECT_EQ(fused.reports.back().ops_after, 6U);
}

TEST(FusedStep, IsOneComputationInAllModes) {
  for (const char* model : {"mlp:12-9-4", "small_cnn"}) {
    Setting setting{.model = model, .dtype = DType::f32, .steps = 5};
    const Trained planned = trained(setting);
    for (const Mode mode : {Mode::eager, Mode::graph}) {
      setting.mode = mode;
      EXPECT_EQ(test::first_difference(planned.trace, trained(setting).trace), "")
          << model << ", " << name(mode);
    }
  }
}

// Fast backends fuse with library calls of their own and lay images out as they like.
TEST(FusedStep, TrainsAlikeOnEveryBackend) {
  for (const char* model : {"mlp:784-128-10", "mlp_tanh:12-9-4", "small_cnn", "lenet"}) {
    for (const std::string& backend : test::computing_backends({model})) {
      SCOPED_TRACE(fmt::format("{} on {}", model, backend));
      Setting setting{.backend = backend, .model = model, .dtype = DType::f32};
      expect_alike(unfused(setting), trained(setting), 1e-6);
      setting.steps = 10;
      expect_alike(unfused(setting), trained(setting), 1e-5);
    }
  }
}

TEST(FusedStep, CountsItsSteps) {
  for (const auto kind :
       {OptimizerSpec::Kind::sgd, OptimizerSpec::Kind::momentum, OptimizerSpec::Kind::adam}) {
    const Trained fused = trained({.optimizer = {.kind = kind}, .steps = 4});
    EXPECT_EQ(fused.end(std::string(kStepCount)), std::vector<double>{4.0});
  }
}

TEST(FoldedSgd, FollowsTheRateOfTheControlBlock) {
  for (const double rate : {0.0, 1e-3, 0.5}) {
    const Setting setting{.optimizer = {.rate = rate}, .steps = 3};
    expect_alike(unfused(setting), trained(setting), 1e-13);
  }
}

// ---- These comparisons can fail.

// The trap of folded SGD: the first product stands where its gradient was made, and what reads the
// old weight behind it reads the new one.
Graph fold_too_early(const Graph& graph) {
  const auto ops = graph.ops();
  const auto product = std::find_if(ops.begin(), ops.end(),
                                    [](const Op& op) { return op.kind == OpKind::MatMulUpdate; });
  const ValueId weight = product->inputs[0];
  const auto reads = [&](const Op& op) {
    return std::find(op.inputs.begin(), op.inputs.end(), weight) != op.inputs.end();
  };
  const auto reader = std::find_if(ops.begin(), product, [&](const Op& op) {
    return reads(op) && op.kind != OpKind::Linear && op.kind != OpKind::MatMul;
  });
  const auto at = static_cast<std::size_t>(product - ops.begin());
  const auto before = static_cast<std::size_t>(reader - ops.begin());
  EXPECT_LT(before, at);
  Graph result;
  GraphCopy copy(graph, result);
  for (std::size_t i = 0; i < before; ++i) copy.copy(i);
  copy.copy(at);
  copy.map(weight, copy(product->outputs[0]));
  for (std::size_t i = before; i < ops.size(); ++i) {
    if (i != at) copy.copy(i);
  }
  copy.finish();
  return result;
}

TEST(FoldedSgd, TooEarlyShowsInTheParametersOfStepOneAndNotInItsLoss) {
  const Setting setting{.model = "mlp:784-128-10", .dtype = DType::f32};
  std::vector<Pass> passes = passes_for(parse_fusion("on"), {});
  const auto fold = std::find_if(passes.begin(), passes.end(),
                                 [](const Pass& pass) { return pass.name == "fold_sgd"; });
  ASSERT_NE(fold, passes.end());
  passes.insert(fold + 1, Pass{"too_early", "plants the trap", fold_too_early});
  const Trained plain = unfused(setting);
  const Trained trapped = trained(setting, passes);
  EXPECT_LE(loss_difference(plain, trapped), 1e-6);
  EXPECT_GT(end_difference(plain, trapped), 1e-4);
}

// What the comparisons above are of, on the oracle.
TEST(FusedStep, HasWhatIsMadeByWish) {
  const Trained fused = trained({.model = "mlp:12-9-7-4"});
  std::vector<std::string> changed;
  for (const PassReport& report : fused.reports) {
    const bool changes =
        report.ops_before != report.ops_after || report.intermediate_bytes_removed != 0;
    if (changes && parse_fusion("on").has(report.name)) changed.push_back(report.name);
  }
  EXPECT_EQ(changed,
            (std::vector<std::string>{"epilogue", "loss_grad", "relu_grad", "bias_grad", "fold_sgd",
                                      "multi_tensor", "relu_mask", "small_update"}));
}

TEST(FusedStep, AWrongRateIsSeen) {
  const Setting setting{.optimizer = {.rate = 0.1}};
  Setting other = setting;
  other.optimizer.rate = 0.1000001;
  EXPECT_GT(end_difference(unfused(setting), trained(other)), 1e-9);
}

}  // namespace
}  // namespace stepscope
