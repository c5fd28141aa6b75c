// The layout pass against choosers made for the purpose: where reorders go, and what stays
// row-major.
// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include <map>

#include "graph/plan/layout.h"
#include "ops/models/model.h"
#include "tests/graph/fusion_rig.h"
#include "tests/support/errors.h"
#include "tests/support/golden.h"

namespace stepscope {
namespace {

using test::count;
using test::kinds_of;
using test::notes_of;

constexpr LayoutId kBlocked{16};
constexpr LayoutId kPacked{300};

// Convolutions want blocked images and packed weights, and what follows takes images as they come.
class Blocking final : public LayoutChooser {
 public:
  LayoutChoice choose(const LayoutRequest& request) override {
    LayoutChoice choice{.attrs = request.attrs};
    const bool convolution = request.kind == OpKind::Conv2d || request.kind == OpKind::Conv2dBias;
    const bool any = convolution || request.kind == OpKind::Relu || request.kind == OpKind::MaxPool;
    for (std::size_t k = 0; k < request.in.size(); ++k) {
      choice.in.push_back(any && !convolution ? request.in[k].layout
                          : !convolution      ? LayoutId::row_major
                          : k == 0            ? kBlocked
                          : k == 1            ? kPacked
                                              : LayoutId::row_major);
    }
    if (auto* attrs = std::get_if<Conv2dAttrs>(&choice.attrs)) attrs->layout = kBlocked;
    return choice;
  }
};

class LayoutPass : public testing::Test {
 protected:
  ValueId convolution(ValueId x, ValueId w) {
    return graph_.apply1(OpKind::Conv2d, {x, w}, Conv2dAttrs{});
  }
  PassResult laid_out() {
    verify(graph_, "test");
    PassResult result = layout_pass({.layouts = &chooser_}).run(graph_);
    verify(result.graph, "layout");
    return result;
  }

  Blocking chooser_;
  Graph graph_;
  ValueId x_ = graph_.declare(Role::input, {{1, 2, 6, 6}, DType::f32}, "x");
  ValueId w_ = graph_.declare(Role::parameter, {{2, 2, 3, 3}, DType::f32}, "w");
};

TEST_F(LayoutPass, ReordersWhatAnOpWantsAndNoMore) {
  ValueId h = build::relu(graph_, convolution(x_, w_));
  h = graph_.apply(OpKind::MaxPool, {h}, Pool2dAttrs{})[0];
  graph_.keep(build::tanh(graph_, h), "out");
  const PassResult result = laid_out();
  const Graph& graph = result.graph;
  ASSERT_EQ(kinds_of(graph),
            (std::vector{OpKind::Reorder, OpKind::Reorder, OpKind::Conv2d, OpKind::Relu,
                         OpKind::MaxPool, OpKind::Reorder, OpKind::Tanh}));
  EXPECT_EQ(graph.type(graph.ops()[0].outputs[0]).layout, kBlocked);
  EXPECT_EQ(graph.type(graph.ops()[1].outputs[0]).layout, kPacked);
  EXPECT_EQ(graph.type(graph.ops()[4].outputs[0]).layout, kBlocked);
  EXPECT_EQ(graph.type(graph.ops()[5].outputs[0]).layout, LayoutId::row_major);
  EXPECT_EQ(notes_of(result), "3 values are reordered");
  test::expect_golden("passes/layout.txt", to_text(graph_) + "-------- becomes\n" + to_text(graph));
}

TEST_F(LayoutPass, ReordersAValueOnceForEachLayout) {
  const ValueId a = convolution(x_, w_);
  const ValueId b = convolution(x_, w_);
  graph_.keep(build::tanh(graph_, a), "a");
  graph_.keep(build::sigmoid(graph_, a), "c");
  graph_.keep(build::tanh(graph_, b), "b");
  const Graph graph = laid_out().graph;
  EXPECT_EQ(count(graph, OpKind::Reorder), 4) << "x, w, and the two results";
}

// x is wanted blocked, and what came out of it row-major: from the original, not back and forth.
TEST_F(LayoutPass, ReordersFromTheOriginal) {
  graph_.keep(build::tanh(graph_, convolution(x_, w_)), "y");
  graph_.keep(build::tanh(graph_, x_), "z");
  const Graph graph = laid_out().graph;
  EXPECT_EQ(count(graph, OpKind::Reorder), 3);
  for (const Op& op : graph.ops()) {
    if (op.kind != OpKind::Reorder) continue;
    const std::int32_t maker = graph.value(op.inputs[0]).producer;
    EXPECT_TRUE(maker < 0 || graph.ops()[static_cast<std::size_t>(maker)].kind != OpKind::Reorder);
  }
}

TEST_F(LayoutPass, KeptValuesAreRowMajorAndKeepTheirNames) {
  const ValueId y = build::relu(graph_, convolution(x_, w_));
  graph_.keep(y, "y");
  graph_.keep(graph_.reshape(y, {32}), "flat");
  graph_.keep(build::tanh(graph_, y), "out");
  const Graph graph = laid_out().graph;
  const ValueId kept = *graph.find("y");
  EXPECT_TRUE(graph.value(kept).kept);
  EXPECT_EQ(graph.type(kept).layout, LayoutId::row_major);
  EXPECT_EQ(graph.source(*graph.find("flat")), kept);
  EXPECT_EQ(count(graph, OpKind::Reorder), 3) << "tanh and the view read the kept one, too";
}

TEST_F(LayoutPass, ViewsShowRowMajorValues) {
  const ValueId y = build::relu(graph_, convolution(x_, w_));
  graph_.keep(build::tanh(graph_, graph_.reshape(y, {2, 16})), "out");
  const Graph graph = laid_out().graph;
  EXPECT_EQ(graph.type(graph.source(graph.ops().back().inputs[0])).layout, LayoutId::row_major);
}

TEST_F(LayoutPass, ReordersBelongToTheirReadersPhase) {
  const ValueId y = convolution(x_, w_);
  graph_.enter(Phase::backward);
  graph_.keep(build::tanh(graph_, y), "out");
  const Graph graph = laid_out().graph;
  EXPECT_EQ(graph.ops()[0].phases, PhaseSet(Phase::forward));
  EXPECT_EQ(graph.ops()[3].kind, OpKind::Reorder);
  EXPECT_EQ(graph.ops()[3].phases, PhaseSet(Phase::backward));
}

TEST_F(LayoutPass, UpdatesSeeTheParameterItself) {
  const ValueId rate = graph_.declare(Role::state, {Shape{}, DType::f32}, "rate");
  graph_.keep(build::tanh(graph_, convolution(x_, w_)), "out");
  graph_.apply(OpKind::SgdUpdate, {w_, w_, rate}, SgdAttrs{});
  const Graph graph = laid_out().graph;
  EXPECT_EQ(graph.label(graph.ops().back().inputs[0]), "w");
  EXPECT_EQ(graph.value(graph.ops().back().outputs[0]).sharing, Sharing::overwrite);
}

// Wants everything of a pool's gradient blocked, what the pool saved included.
class Greedy final : public LayoutChooser {
 public:
  LayoutChoice choose(const LayoutRequest& request) override {
    LayoutChoice choice{.attrs = request.attrs};
    const LayoutId wanted = request.kind == OpKind::MaxPoolGrad ? kBlocked : LayoutId::row_major;
    for (std::size_t k = 0; k < request.in.size(); ++k) choice.in.push_back(wanted);
    return choice;
  }
};

// What a pool saved is for its gradient alone, whatever layouts are about.
TEST_F(LayoutPass, SavedValuesAreNeverReordered) {
  const Graph step = make_model("small_cnn").step(2);
  Greedy chooser;
  const Graph graph = layout_pass({.layouts = &chooser}).run(step).graph;
  verify(graph, "layout");
  EXPECT_GT(count(graph, OpKind::Reorder), 0);
  for (const Op& op : graph.ops()) {
    if (op.kind != OpKind::Reorder) continue;
    EXPECT_NE(graph.value(op.inputs[0]).role, Role::saved);
  }
}

class Content final : public LayoutChooser {
 public:
  LayoutChoice choose(const LayoutRequest& request) override {
    LayoutChoice choice{.attrs = request.attrs};
    for (const TensorType& type : request.in) choice.in.push_back(type.layout);
    return choice;
  }
};

TEST_F(LayoutPass, WithoutWishesTheGraphStays) {
  const Graph step = make_model("lenet").step(2);
  Content chooser;
  const PassResult result = layout_pass({.layouts = &chooser}).run(step);
  EXPECT_EQ(to_text(result.graph), to_text(step));
  EXPECT_EQ(notes_of(result), "the backend wants all values as they are");
}

class Forgetful final : public LayoutChooser {
 public:
  LayoutChoice choose(const LayoutRequest& request) override { return {.attrs = request.attrs}; }
};

TEST_F(LayoutPass, SaysWhatAChooserForgot) {
  (void)convolution(x_, w_);
  Forgetful chooser;
  const std::vector<Pass> passes = {layout_pass({.layouts = &chooser})};
  EXPECT_EQ(test::error_of([&] { (void)run_passes(graph_, passes); }),
            "bad graph: layout: Conv2d has 2 inputs, the backend chose layouts for 0");
}

}  // namespace
}  // namespace stepscope
