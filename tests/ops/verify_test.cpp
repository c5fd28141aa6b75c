// The verifier: each law, broken once. What apply() lets through is broken by appending; the rest
// by laying hands on a graph that was right.
// SPDX-License-Identifier: Apache-2.0
#include "ops/ir/verify.h"

#include <gtest/gtest.h>

#include "ops/ir/build.h"
#include "ops/ir/op_def.h"
#include "ops/models/model.h"
#include "tests/support/errors.h"

namespace stepscope {

class GraphTestPeer {
 public:
  static Value& value(Graph& graph, ValueId id) {
    return graph.values_[static_cast<std::size_t>(id.index)];
  }
  static Op& op(Graph& graph, std::size_t i) { return graph.ops_[i]; }
};

namespace {

using Peer = GraphTestPeer;

// Two outputs of the type of the input.
OpKind twins_op() {
  static const OpKind kind =
      add_op({.name = "TestTwins",
              .infer =
                  [](std::span<const TensorType> in, const Attrs&, TypeList& out) {
                    out.push_back(in[0]);
                    out.push_back(in[0]);
                  },
              .work = [](std::span<const TensorType>, std::span<const TensorType>,
                         const Attrs&) { return Work{}; }});
  return kind;
}

class VerifyTest : public testing::Test {
 protected:
  std::string error() const {
    return test::error_of([&] { verify(graph_, "test"); });
  }
  ValueId update(ValueId parameter) {
    return graph_.apply1(OpKind::SgdUpdate, {parameter, x_, rate_}, SgdAttrs{});
  }
  // An update that counts the step as well.
  void update_and_count(ValueId parameter, ValueId step) {
    graph_.apply(OpKind::SgdUpdate, {parameter, x_, rate_, step}, SgdAttrs{true});
  }
  ValueId declare_step() {
    return graph_.declare(Role::state, {Shape{}, DType::i32}, std::string(kStepCount));
  }

  const TensorType type_{{2, 3}, DType::f32};
  Graph graph_;
  ValueId x_ = graph_.declare(Role::input, type_, "x");
  ValueId w_ = graph_.declare(Role::parameter, type_, "w");
  ValueId v_ = graph_.declare(Role::parameter, type_, "v");
  ValueId rate_ = graph_.declare(Role::state, {Shape{}, DType::f32}, "rate");
};

TEST_F(VerifyTest, LawfulGraphs) {
  EXPECT_EQ(error(), "no error");
  const ValueId step = declare_step();
  const ValueId y = build::relu(graph_, graph_.reshape(w_, {6}));
  graph_.keep(graph_.reshape(y, {3, 2}), "y");
  const ValueId once = update(w_);
  (void)build::relu(graph_, graph_.reshape(once, {6}));
  graph_.keep(update(once), "twice");
  update_and_count(v_, step);
  EXPECT_EQ(error(), "no error");
}

// ---- Order and versions.

TEST_F(VerifyTest, ReadAfterAnUpdate) {
  update(w_);
  (void)build::relu(graph_, w_);
  EXPECT_EQ(error(), "bad graph: test: op 1 (Relu) reads w after op 0 overwrote its storage w");
}

TEST_F(VerifyTest, ReadOfAViewAfterAnUpdate) {
  const ValueId flat = graph_.reshape(w_, {6});
  update(w_);
  (void)build::relu(graph_, flat);
  EXPECT_EQ(error(), "bad graph: test: op 1 (Relu) reads w{6} after op 0 overwrote its storage w");
}

TEST_F(VerifyTest, SecondUpdateOfTheOldValue) {
  update(w_);
  update(w_);
  EXPECT_EQ(error(),
            "bad graph: test: op 1 (SgdUpdate) reads w after op 0 overwrote its storage w");
}

TEST_F(VerifyTest, ReadOfAnUpdateAfterTheNext) {
  const ValueId once = update(w_);
  update(once);
  (void)build::relu(graph_, once);
  EXPECT_EQ(error(), "bad graph: test: op 2 (Relu) reads %0 after op 1 overwrote its storage w");
}

TEST_F(VerifyTest, ReadBeforeItIsMade) {
  const ValueId y = build::relu(graph_, x_);
  const ValueId z = build::tanh(graph_, y);
  std::swap(Peer::op(graph_, 0), Peer::op(graph_, 1));
  Peer::value(graph_, y).producer = 1;
  Peer::value(graph_, z).producer = 0;
  EXPECT_EQ(error(), "bad graph: test: op 0 (Tanh) reads %0 before it is made");
}

TEST_F(VerifyTest, KeptButOverwritten) {
  graph_.keep(w_);
  update(w_);
  EXPECT_EQ(error(), "bad graph: test: w is kept, but op 0 overwrites its storage");
}

TEST_F(VerifyTest, KeptViewOfAnOverwrittenVersion) {
  const ValueId once = update(w_);
  graph_.keep(graph_.reshape(once, {6}), "flat");
  update(once);
  EXPECT_EQ(error(), "bad graph: test: flat is kept, but op 1 overwrites its storage");
}

// ---- What an op overwrites, no other input of it reads.

TEST_F(VerifyTest, ProductThatReadsTheWeightItOverwrites) {
  const ValueId s = graph_.declare(Role::parameter, {{3, 3}, DType::f32}, "s");
  const ValueId z = graph_.declare(Role::input, {{3, 3}, DType::f32}, "z");
  graph_.apply(OpKind::MatMulUpdate, {s, z, z}, ProductUpdateAttrs{});
  EXPECT_EQ(error(), "no error");
  graph_.apply(OpKind::MatMulUpdate, {graph_.ops()[0].outputs[0], graph_.ops()[0].outputs[0], z},
               ProductUpdateAttrs{});
  EXPECT_EQ(error(),
            "bad graph: test: op 1 (MatMulUpdate) overwrites s and reads it as input 1, too");
}

TEST_F(VerifyTest, ProductThatReadsAViewOfTheWeightItOverwrites) {
  const ValueId s = graph_.declare(Role::parameter, {{3, 3}, DType::f32}, "s");
  const ValueId z = graph_.declare(Role::input, {{3, 3}, DType::f32}, "z");
  const ValueId flat = graph_.reshape(s, {9});
  graph_.apply(OpKind::MatMulUpdate, {s, z, graph_.reshape(flat, {3, 3})}, ProductUpdateAttrs{});
  EXPECT_EQ(error(),
            "bad graph: test: op 0 (MatMulUpdate) overwrites s and reads it as input 2, too");
}

TEST_F(VerifyTest, ConvolutionThatReadsTheWeightItOverwrites) {
  const TensorType square{{1, 1, 1, 1}, DType::f32};
  const ValueId k = graph_.declare(Role::parameter, square, "k");
  const ValueId z = graph_.declare(Role::input, square, "z");
  graph_.apply(OpKind::Conv2dWeightUpdate, {k, z, k}, Conv2dUpdateAttrs{});
  EXPECT_EQ(error(),
            "bad graph: test: op 0 (Conv2dWeightUpdate) overwrites k and reads it as input 2, too");
}

TEST_F(VerifyTest, SmallUpdateThatReadsWhatItOverwrites) {
  const ValueId s = graph_.declare(Role::parameter, {{3, 3}, DType::f32}, "s");
  const ValueId t = graph_.declare(Role::parameter, {{3, 3}, DType::f32}, "t");
  const ValueId z = graph_.declare(Role::input, {{3, 3}, DType::f32}, "z");
  const auto refusal = [&](const std::vector<ValueId>& inputs) {
    Graph graph = graph_;
    graph.apply(OpKind::MatMulSgdUpdate, inputs, SmallUpdateAttrs{.tensors = 1});
    return test::error_of([&] { verify(graph, "test"); });
  };
  EXPECT_EQ(refusal({s, z, z, t, z}), "no error");
  EXPECT_EQ(refusal({s, s, z, t, z}),
            "bad graph: test: op 0 (MatMulSgdUpdate) overwrites s and reads it as input 1, too");
  EXPECT_EQ(refusal({s, z, t, t, z}),
            "bad graph: test: op 0 (MatMulSgdUpdate) overwrites t and reads it as input 2, too");
  EXPECT_EQ(refusal({s, z, z, t, s}),
            "bad graph: test: op 0 (MatMulSgdUpdate) overwrites s and reads it as input 4, too");
}

// W - rate W is lawful; a gradient that is another parameter of the same update is not.
TEST_F(VerifyTest, UpdateThatReadsWhatItOverwrites) {
  const auto refusal = [&](const std::vector<ValueId>& inputs, SgdAttrs attrs) {
    Graph graph = graph_;
    graph.apply(OpKind::SgdUpdate, inputs, attrs);
    return test::error_of([&] { verify(graph, "test"); });
  };
  EXPECT_EQ(refusal({w_, w_, rate_}, {}), "no error");
  EXPECT_EQ(refusal({w_, v_, w_, v_, rate_}, {.tensors = 2}), "no error");
  EXPECT_EQ(refusal({w_, v_, v_, x_, rate_}, {.tensors = 2}),
            "bad graph: test: op 0 (SgdUpdate) overwrites v and reads it as input 2, too");
  EXPECT_EQ(refusal({w_, w_, x_, x_, rate_}, {.tensors = 2}),
            "bad graph: test: op 0 (SgdUpdate) overwrites w and reads it as input 1, too");
  const ValueId scalar = graph_.declare(Role::parameter, {Shape{}, DType::f32}, "scalar");
  const ValueId one = graph_.declare(Role::input, {Shape{}, DType::f32}, "one");
  EXPECT_EQ(refusal({scalar, one, scalar}, {}),
            "bad graph: test: op 0 (SgdUpdate) overwrites scalar and reads it as input 2, too");
}

// ---- The step count.

TEST_F(VerifyTest, StepCountedTwice) {
  const ValueId step = declare_step();
  const auto counted = graph_.apply(OpKind::SgdUpdate, {w_, x_, rate_, step}, SgdAttrs{true});
  update_and_count(v_, counted[1]);
  EXPECT_EQ(error(), "bad graph: test: control.step is advanced 2 times in one step");
}

TEST_F(VerifyTest, StepCountedBeforeTheLastUpdate) {
  update_and_count(w_, declare_step());
  (void)build::relu(graph_, x_);
  EXPECT_EQ(error(), "no error") << "an op that updates nothing may follow";
  update(v_);
  EXPECT_EQ(error(),
            "bad graph: test: op 0 (SgdUpdate) advances control.step, but op 2 updates after it");
}

// ---- Phases.

TEST_F(VerifyTest, AnOpWithoutPhase) {
  graph_.enter(PhaseSet{});
  (void)build::relu(graph_, x_);
  EXPECT_EQ(error(), "bad graph: test: op 0 (Relu) has no phase");
}

// ---- What the definition says.

TEST_F(VerifyTest, TypeOfAnOutput) {
  const ValueId y = build::relu(graph_, x_);
  Peer::value(graph_, y).type = {{3, 2}, DType::f32};
  EXPECT_EQ(error(),
            "bad graph: test: op 0 (Relu): output 0 is f32{3, 2}, its rule says f32{2, 3}");
}

TEST_F(VerifyTest, TypesThatDoNotFitTheRule) {
  (void)build::add(graph_, x_, w_);
  Peer::value(graph_, w_).type = {{3, 2}, DType::f32};
  EXPECT_EQ(error(), "bad graph: Add: operand types differ, f32{2, 3} and f32{3, 2}");
}

TEST_F(VerifyTest, TypeThatIsNone) {
  Peer::value(graph_, w_).type = {{2, 0}, DType::f32};
  EXPECT_EQ(error(), "bad graph: test: dimension 1 of f32{2, 0} is below one");
}

TEST_F(VerifyTest, NumberOfOutputs) {
  const ValueId y = build::relu(graph_, x_);
  Peer::op(graph_, 0).outputs.push_back(y);
  EXPECT_EQ(error(), "bad graph: test: op 0 (Relu) has 2 outputs, its rule says 1");
}

TEST_F(VerifyTest, MakerOfAnOutput) {
  const ValueId y = build::relu(graph_, x_);
  Peer::value(graph_, y).producer = 7;
  EXPECT_EQ(error(), "bad graph: test: op 0 (Relu): output 0 names op 7 as its maker");
}

TEST_F(VerifyTest, OutputMadeTwice) {
  graph_.apply(twins_op(), {x_});
  Peer::op(graph_, 0).outputs[1] = Peer::op(graph_, 0).outputs[0];
  EXPECT_EQ(error(), "bad graph: test: op 0 (TestTwins): output 1 was made already");
}

TEST_F(VerifyTest, RoleOfAnOutput) {
  const ValueId y = build::relu(graph_, x_);
  Peer::value(graph_, y).role = Role::saved;
  EXPECT_EQ(error(), "bad graph: test: op 0 (Relu): output 0 has role saved");
}

TEST_F(VerifyTest, OverwriteThatTheOpDoesNotDo) {
  const ValueId y = build::relu(graph_, w_);
  Peer::value(graph_, y).sharing = Sharing::overwrite;
  Peer::value(graph_, y).storage = w_;
  EXPECT_EQ(error(),
            "bad graph: test: op 0 (Relu): output 0 shares storage otherwise than the op says");
}

TEST_F(VerifyTest, OverwriteOfAnotherParameter) {
  const ValueId updated = update(w_);
  Peer::value(graph_, updated).storage = v_;
  EXPECT_EQ(
      error(),
      "bad graph: test: op 0 (SgdUpdate): output 0 shares storage otherwise than the op says");
}

TEST_F(VerifyTest, UpdateThatOverwritesNothing) {
  const ValueId updated = update(w_);
  Peer::value(graph_, updated).sharing = Sharing::own;
  Peer::value(graph_, updated).storage = updated;
  EXPECT_EQ(
      error(),
      "bad graph: test: op 0 (SgdUpdate): output 0 shares storage otherwise than the op says");
}

// ---- Storage.

TEST_F(VerifyTest, OverwriteOfAnInput) {
  update(w_);
  Peer::value(graph_, w_).role = Role::input;
  EXPECT_EQ(error(), "bad graph: test: %0 overwrites w, which is input");
}

TEST_F(VerifyTest, StorageOfItsOwnThatIsNot) {
  const ValueId y = build::relu(graph_, x_);
  Peer::value(graph_, y).storage = x_;
  EXPECT_EQ(error(), "bad graph: test: %0 does not own the storage it claims");
}

TEST_F(VerifyTest, StorageThatIsAView) {
  const ValueId flat = graph_.reshape(x_, {6});
  const ValueId tall = graph_.reshape(x_, {3, 2});
  Peer::value(graph_, tall).storage = flat;
  EXPECT_EQ(error(), "bad graph: test: storage of x{6}{3, 2} is itself shared");
}

TEST_F(VerifyTest, ViewOfAnotherSize) {
  const ValueId flat = graph_.reshape(x_, {6});
  Peer::value(graph_, flat).type = {{5}, DType::f32};
  EXPECT_EQ(error(), "bad graph: test: x{5} has 20 bytes, its storage x has 24");
}

// ---- Names of nothing.

TEST_F(VerifyTest, ValuesThatAreNotThere) {
  const ValueId y = build::relu(graph_, x_);
  Peer::op(graph_, 0).inputs[0] = {9};
  EXPECT_EQ(error(), "bad graph: test: op 0 (Relu) reads a value that is not in the graph");
  Peer::op(graph_, 0).inputs[0] = x_;
  Peer::op(graph_, 0).outputs[0] = {9};
  EXPECT_EQ(error(), "bad graph: test: op 0 (Relu): output 0 is not in the graph");
  Peer::op(graph_, 0).outputs[0] = y;
  Peer::value(graph_, y).storage = {9};
  EXPECT_EQ(error(), "bad graph: test: %0 has no storage");
}

}  // namespace
}  // namespace stepscope
