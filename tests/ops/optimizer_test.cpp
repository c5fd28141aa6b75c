// Optimizers: states, order of updates, and who counts the step.
// SPDX-License-Identifier: Apache-2.0
#include "ops/models/optimizer.h"

#include <gtest/gtest.h>

#include <array>

#include "ops/ir/build.h"
#include "ops/ir/verify.h"
#include "tests/support/errors.h"

namespace stepscope {
namespace {

using Kind = OptimizerSpec::Kind;
using Names = std::vector<std::string>;
using test::error_of;

TEST(Optimizers, Names) {
  for (const Kind kind : {Kind::sgd, Kind::momentum, Kind::adam}) {
    EXPECT_EQ(optimizer_kind(name(kind)), kind);
  }
  EXPECT_EQ(error_of([] { (void)optimizer_kind("adma"); }),
            "bad input: unknown optimizer 'adma': did you mean 'adam'? (there are: sgd, momentum, "
            "adam)");
}

TEST(Optimizers, States) {
  EXPECT_EQ(state_names(Kind::sgd, "w1"), Names{});
  EXPECT_EQ(state_names(Kind::momentum, "w1"), Names{"w1.velocity"});
  EXPECT_EQ(state_names(Kind::adam, "w1"), (Names{"w1.m", "w1.v"}));
}

class Updates : public testing::TestWithParam<Kind> {
 protected:
  // The gradient of v is made before that of w.
  Updates() {
    const TensorType type{{2, 3}, DType::f32};
    const ValueId x = graph_.declare(Role::input, type, "x");
    w_ = graph_.declare(Role::parameter, type, "w");
    v_ = graph_.declare(Role::parameter, type, "v");
    const ValueId dv = build::relu(graph_, x);
    const ValueId dw = build::tanh(graph_, x);
    append_updates(graph_, std::array{w_, v_}, std::array{dw, dv},
                   {.kind = GetParam(), .mu = 0.5, .beta1 = 0.6, .beta2 = 0.7, .epsilon = 0.1});
    verify(graph_, "updates");
  }
  // Names of the storages an op reads or overwrites.
  Names names(const std::vector<ValueId>& ids) const {
    Names all;
    for (const ValueId id : ids) all.push_back(graph_.label(graph_.storage(id)));
    return all;
  }
  const Op& update(std::size_t i) const { return graph_.ops()[2 + i]; }

  Graph graph_;
  ValueId w_, v_;
};

TEST_P(Updates, InTheOrderOfTheGradientsAndTheLastCounts) {
  ASSERT_EQ(graph_.ops().size(), 4U);
  EXPECT_EQ(graph_.storage(update(0).outputs[0]), v_);
  EXPECT_EQ(graph_.storage(update(1).outputs[0]), w_);
  for (std::size_t i = 0; i < 2; ++i) EXPECT_EQ(update(i).phases, PhaseSet(Phase::update));
  EXPECT_EQ(names(update(1).outputs).back(), kStepCount);
  EXPECT_NE(names(update(0).outputs).back(), kStepCount);
  EXPECT_EQ(graph_.type(*graph_.find(kLearningRate)), (TensorType{{}, DType::f32}));
  EXPECT_EQ(graph_.type(*graph_.find(kStepCount)), (TensorType{{}, DType::i32}));
}

TEST_P(Updates, OperandsAndSettings) {
  switch (GetParam()) {
    case Kind::sgd:
      EXPECT_EQ(names(update(0).inputs), (Names{"v", "%0", "control.lr"}));
      EXPECT_EQ(names(update(1).inputs), (Names{"w", "%1", "control.lr", "control.step"}));
      EXPECT_EQ(names(update(0).outputs), Names{"v"});
      EXPECT_EQ(update(1).attrs, Attrs(SgdAttrs{true}));
      break;
    case Kind::momentum:
      EXPECT_EQ(names(update(0).inputs), (Names{"v", "%0", "v.velocity", "control.lr"}));
      EXPECT_EQ(names(update(0).outputs), (Names{"v", "v.velocity"}));
      EXPECT_EQ(names(update(1).outputs), (Names{"w", "w.velocity", "control.step"}));
      EXPECT_EQ(update(0).attrs, Attrs(MomentumAttrs{0.5, false}));
      EXPECT_EQ(update(1).attrs, Attrs(MomentumAttrs{0.5, true}));
      break;
    case Kind::adam:
      EXPECT_EQ(names(update(0).inputs),
                (Names{"v", "%0", "v.m", "v.v", "control.lr", "control.step"}))
          << "each corrects its bias by the step";
      EXPECT_EQ(names(update(0).outputs), (Names{"v", "v.m", "v.v"}));
      EXPECT_EQ(names(update(1).outputs), (Names{"w", "w.m", "w.v", "control.step"}));
      EXPECT_EQ(update(0).attrs, Attrs(AdamAttrs{0.6, 0.7, 0.1, false}));
      EXPECT_EQ(update(1).attrs, Attrs(AdamAttrs{0.6, 0.7, 0.1, true}));
      break;
  }
}

INSTANTIATE_TEST_SUITE_P(Kinds, Updates, testing::Values(Kind::sgd, Kind::momentum, Kind::adam),
                         [](const auto& each) { return std::string(name(each.param)); });

TEST(Optimizers, RefuseWhatDoesNotPairUp) {
  Graph graph;
  const ValueId w = graph.declare(Role::parameter, {{2}, DType::f32}, "w");
  EXPECT_EQ(error_of([&] {
              append_updates(graph, std::array{w, w}, std::array{w}, {});
            }),
            "bad graph: append_updates: 2 parameters, 1 gradients");
  EXPECT_EQ(error_of([&] { append_updates(graph, {}, {}, {}); }),
            "bad graph: append_updates: 0 parameters, 0 gradients");
}

}  // namespace
}  // namespace stepscope
