// Printed, parsed and printed again: the same text, for every graph that the project makes.
// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <set>

#include "graph/passes/fusion.h"
#include "graph/plan/layout.h"
#include "ops/ir/build.h"
#include "ops/ir/copy.h"
#include "ops/ir/op_def.h"
#include "ops/ir/parse.h"
#include "ops/ir/print.h"
#include "ops/models/model.h"
#include "tests/support/random_step.h"

namespace stepscope {
namespace {

void expect_round_trip(const Graph& graph) {
  const std::string text = to_text(graph);
  const StepFile file = parse_step(text, "text");
  EXPECT_EQ(to_text(file), text);
  const Graph again = instantiate(file, 1);
  ASSERT_EQ(to_text(again), text);
  ASSERT_EQ(again.ops().size(), graph.ops().size());
  for (std::size_t i = 0; i < graph.ops().size(); ++i) {
    const Op& op = graph.ops()[i];
    EXPECT_EQ(again.ops()[i].attrs, op.attrs) << name(op.kind);
    EXPECT_EQ(op_def(op.kind).attrs.index(), op.attrs.index()) << name(op.kind);
    for (std::size_t k = 0; k < op.outputs.size(); ++k) {
      const Value& value = graph.value(op.outputs[k]);
      const Value& made = again.value(again.ops()[i].outputs[k]);
      EXPECT_EQ(made.role, value.role);
      EXPECT_EQ(made.kept, value.kept);
      EXPECT_EQ(made.number, value.number);
    }
  }
}

// Convolutions read and make blocked images, what stands alone behind them takes what it gets.
class Blocked : public LayoutChooser {
 public:
  LayoutChoice choose(const LayoutRequest& request) override {
    LayoutChoice choice{{}, request.attrs};
    auto* convolution = std::get_if<Conv2dAttrs>(&choice.attrs);
    if (convolution != nullptr) convolution->layout = LayoutId{16};
    const bool alone = request.in.size() == 1 && takes_any_layout(op_def(request.kind), 0) &&
                       request.kind != OpKind::Reorder;
    for (std::size_t i = 0; i < request.in.size(); ++i) {
      const LayoutId first = convolution != nullptr ? LayoutId{16}
                             : alone                ? request.in[0].layout
                                                    : LayoutId::row_major;
      choice.in.push_back(i == 0 ? first : LayoutId::row_major);
    }
    return choice;
  }
};

std::vector<std::vector<std::string>> pass_choices() {
  std::vector<std::vector<std::string>> all = {{}, fusion_names()};
  for (const std::string& one : fusion_names()) {
    all.push_back({one});
    std::vector<std::string> others = fusion_names();
    others.erase(std::find(others.begin(), others.end(), one));
    all.push_back(others);
  }
  return all;
}

constexpr Wishes kWithoutLayouts{.relu_mask = true, .small_product = 4096};

class RoundTrip : public testing::TestWithParam<const char*> {};

TEST_P(RoundTrip, StepsAndEvaluationsAfterEveryChoiceOfPasses) {
  Blocked blocked;
  for (const auto kind :
       {OptimizerSpec::Kind::sgd, OptimizerSpec::Kind::momentum, OptimizerSpec::Kind::adam}) {
    const Model model = make_model(GetParam(), {.kind = kind});
    for (const std::int64_t batch : {1, 3, 32}) {
      SCOPED_TRACE(fmt::format("batch {}, {}", batch, name(kind)));
      const Graph step = model.step(batch);
      expect_round_trip(step);
      if (model.has_loss()) expect_round_trip(model.evaluation(batch));
      for (const std::vector<std::string>& passes : pass_choices()) {
        for (const Wishes& wishes : {kWithoutLayouts, Wishes{.layouts = &blocked}}) {
          expect_round_trip(run_passes(step, passes_for({passes}, wishes)).graph);
        }
      }
    }
  }
  expect_round_trip(with_dtype(make_model(GetParam()).step(2), DType::f64));
}

TEST(RoundTripOfGraphs, RandomSteps) {
  for (std::uint64_t seed = 0; seed < 300; ++seed) {
    SCOPED_TRACE(seed);
    expect_round_trip(*test::random_step(seed).graph);
  }
}

// Views with a name and without, kept and read, of two versions of a parameter.
TEST(RoundTripOfGraphs, Views) {
  Graph graph;
  const ValueId x = graph.declare(Role::input, {{2, 3}, DType::f32}, "x");
  const ValueId w = graph.declare(Role::parameter, {{2, 3}, DType::f32}, "w");
  const ValueId rate = graph.declare(Role::state, {Shape{}, DType::f32}, "rate");
  const ValueId flat = graph.reshape(w, {6});
  graph.rename(flat, "flat");
  const ValueId before = build::relu(graph, flat);
  graph.enter(PhaseSet(Phase::backward) | Phase::update);
  const ValueId updated = graph.apply1(OpKind::SgdUpdate, {w, x, rate}, SgdAttrs{});
  graph.keep(graph.reshape(updated, {3, 2}));
  graph.keep(graph.reshape(updated, {3, 2}));
  const ValueId after = build::sub(graph, build::relu(graph, graph.reshape(updated, {6})), before);
  const ValueId named = graph.reshape(after, {3, 2});
  graph.keep(named, "moved");
  graph.keep(graph.reshape(named, {1, 6}));
  graph.rename(graph.reshape(after, {6, 1}), "column");
  expect_round_trip(graph);
  EXPECT_NE(to_text(graph).find("\nflat = w{6}\n"), std::string::npos) << to_text(graph);
  EXPECT_NE(to_text(graph).find("\nkeep moved\n"), std::string::npos) << to_text(graph);
}

// The ops that no model has, in any step.
constexpr std::string_view kOthers = R"(stepscope-ir 1
input x : f32{2, 3}
input labels : i32{2}
input image : f32{1, 2, 4, 4}
parameter table : f32{4, 3}
parameter kernel : f32{2, 2, 3, 3}
rows = Gather(table, labels)
sums = ScatterAdd(rows, labels) {rows = 5}
wide = Cast(x) {to = f64}
winner = Argmax(x)
channels = BiasGrad(image)
pooled = AvgPool(image)
spread = AvgPoolGrad(pooled) {height = 4, width = 4}
s = Sigmoid(x)
ds = SigmoidGrad(x, s)
product = Mul(s, ds)
difference = Sub(s, ds)
repeated = Broadcast(x) {axis = 1, size = 2}
gated = Conv2dInputReluGrad(pooled, kernel, image) {height = 4, width = 4}
blocked = Reorder(image) {layout = 16}
)";

TEST(RoundTripOfGraphs, EveryOpIsAmongThem) {
  std::set<OpKind> kinds;
  const auto see = [&](const Graph& graph) {
    expect_round_trip(graph);
    for (const Op& op : graph.ops()) kinds.insert(op.kind);
  };
  see(instantiate(parse_step(kOthers, "others"), 1));
  see(make_model("mlp:6-5-3", {.schedule = {.kind = ScheduleKind::step, .steps = 2}}).step(2));
  for (const auto optimizer :
       {OptimizerSpec::Kind::sgd, OptimizerSpec::Kind::momentum, OptimizerSpec::Kind::adam}) {
    for (const char* spec : {"mlp:6-5-4-3", "mlp_tanh:6-5-3", "lenet", "fork:2x3"}) {
      const Model model = make_model(spec, {.kind = optimizer});
      see(model.step(2));
      if (model.has_loss()) see(model.evaluation(2));
      for (const auto& passes : pass_choices()) {
        see(run_passes(model.step(2), passes_for({passes}, kWithoutLayouts)).graph);
      }
    }
  }
  for (std::size_t i = 0; i < kBuiltinOps; ++i) {
    EXPECT_TRUE(kinds.contains(static_cast<OpKind>(i))) << name(static_cast<OpKind>(i));
  }
}

TEST(RoundTripOfGraphs, Nothing) { expect_round_trip(Graph()); }

INSTANTIATE_TEST_SUITE_P(Models, RoundTrip,
                         testing::Values("mlp:6-5-4-3", "mlp_tanh:4-3-2", "small_cnn", "lenet",
                                         "chain:5", "fork:3x2"));
}  // namespace
}  // namespace stepscope
