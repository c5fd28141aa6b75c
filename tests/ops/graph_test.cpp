// Graph: appending values and ops, sharing of storage, and what it refuses.
// SPDX-License-Identifier: Apache-2.0
#include "ops/ir/graph.h"

#include <gtest/gtest.h>

#include "ops/ir/build.h"
#include "ops/ir/op_def.h"
#include "tests/support/errors.h"
#include "tests/support/random_step.h"

namespace stepscope {
namespace {

using test::error_of;

class GraphTest : public testing::Test {
 protected:
  const TensorType type_{{2, 3}, DType::f32};
  Graph graph_;
  ValueId x_ = graph_.declare(Role::input, type_, "x");
  ValueId w_ = graph_.declare(Role::parameter, type_, "w");
  ValueId rate_ = graph_.declare(Role::state, {Shape{}, DType::f32}, "rate");
};

TEST_F(GraphTest, DeclaredValues) {
  const Value& value = graph_.value(w_);
  EXPECT_EQ(value.role, Role::parameter);
  EXPECT_EQ(value.type, type_);
  EXPECT_EQ(value.sharing, Sharing::own);
  EXPECT_EQ(value.storage, w_);
  EXPECT_EQ(value.producer, -1);
  EXPECT_FALSE(value.kept);
  EXPECT_EQ(graph_.find("w"), w_);
  EXPECT_EQ(graph_.find("v"), std::nullopt);
  EXPECT_EQ(graph_.find(""), std::nullopt) << "values without a name are not found by it";
  EXPECT_EQ(graph_.label(w_), "w");
}

TEST_F(GraphTest, OpsMakeValues) {
  graph_.enter(Phase::backward);
  const ValueId y = build::mul(graph_, x_, w_);
  const Op& op = graph_.ops()[0];
  EXPECT_EQ(op.kind, OpKind::Mul);
  EXPECT_EQ(op.inputs, (std::vector<ValueId>{x_, w_}));
  EXPECT_EQ(op.outputs, std::vector<ValueId>{y});
  EXPECT_EQ(op.phases, PhaseSet(Phase::backward));
  EXPECT_EQ(graph_.value(y).role, Role::computed);
  EXPECT_EQ(graph_.value(y).producer, 0);
  EXPECT_EQ(graph_.label(y), "%0");
  EXPECT_EQ(graph_.ids().size(), 4U);
}

TEST_F(GraphTest, AnUpdateSharesTheStorageOfWhatItChanges) {
  const ValueId updated = graph_.apply1(OpKind::SgdUpdate, {w_, x_, rate_}, SgdAttrs{});
  EXPECT_EQ(graph_.value(updated).sharing, Sharing::overwrite);
  EXPECT_EQ(graph_.storage(updated), w_);
  const ValueId again = graph_.apply1(OpKind::SgdUpdate, {updated, x_, rate_}, SgdAttrs{});
  EXPECT_EQ(graph_.storage(again), w_) << "the owner, not the version in between";
}

TEST_F(GraphTest, SavedOutputsHaveTheirRole) {
  const auto [mixed, saved] = test::mix_and_save(graph_, {x_}, type_);
  EXPECT_EQ(graph_.value(mixed).role, Role::computed);
  EXPECT_EQ(graph_.value(saved).role, Role::saved);
}

TEST_F(GraphTest, ViewsShareStorageAndMaker) {
  const ValueId y = build::relu(graph_, x_);
  const ValueId flat = graph_.reshape(y, {6});
  const ValueId tall = graph_.reshape(flat, {3, 2});
  EXPECT_EQ(graph_.ops().size(), 1U) << "a view is no op";
  for (const ValueId view : {flat, tall}) {
    EXPECT_EQ(graph_.value(view).sharing, Sharing::view);
    EXPECT_EQ(graph_.storage(view), y);
    EXPECT_EQ(graph_.value(view).producer, 0);
    EXPECT_EQ(graph_.source(view), y);
  }
  EXPECT_EQ(graph_.type(tall), (TensorType{{3, 2}, DType::f32}));
  EXPECT_EQ(graph_.source(y), y);
}

// Two versions of one storage: a view shows the one it was taken of.
TEST_F(GraphTest, TheSourceOfAViewIsAVersion) {
  const ValueId before = graph_.reshape(w_, {6});
  const ValueId updated = graph_.apply1(OpKind::SgdUpdate, {w_, x_, rate_}, SgdAttrs{});
  const ValueId after = graph_.reshape(updated, {6});
  EXPECT_EQ(graph_.source(before), w_);
  EXPECT_EQ(graph_.source(after), updated);
  EXPECT_EQ(graph_.storage(before), graph_.storage(after));
}

TEST_F(GraphTest, KeptValues) {
  const ValueId y = build::relu(graph_, x_);
  graph_.keep(y, "y");
  EXPECT_TRUE(graph_.value(y).kept);
  EXPECT_EQ(graph_.find("y"), y);
  graph_.keep(y);       // again, without a name
  graph_.keep(y, "y");  // the same name
  EXPECT_EQ(graph_.label(y), "y");
  EXPECT_EQ(error_of([&] { graph_.keep(y, "z"); }),
            "bad graph: keep: value 'y' has a name, 'z' would be a second");
  const ValueId other = build::relu(graph_, x_);
  EXPECT_EQ(error_of([&] { graph_.keep(other, "w"); }), "bad graph: graph: the name 'w' is taken");
  const ValueId unnamed = build::relu(graph_, x_);
  graph_.keep(unnamed);
  EXPECT_TRUE(graph_.value(unnamed).kept);
}

TEST_F(GraphTest, NamesForPeople) {
  const ValueId y = build::relu(graph_, x_);
  const ValueId view = graph_.reshape(y, {6});
  EXPECT_EQ(graph_.label(view), "%0{6}");
  graph_.rename(y, "h");
  EXPECT_EQ(graph_.label(view), "h{6}");
  graph_.rename(y, "y");
  EXPECT_EQ(graph_.find("h"), std::nullopt) << "the old name is free";
  EXPECT_EQ(graph_.find("y"), y);
  graph_.rename(view, "h");
  EXPECT_FALSE(graph_.value(y).kept);
  EXPECT_EQ(error_of([&] { graph_.rename(y, "w"); }), "bad graph: graph: the name 'w' is taken");
  EXPECT_EQ(error_of([&] { graph_.rename(w_, "v"); }),
            "bad graph: rename: w is declared, its name stays");
  graph_.keep(y);
  EXPECT_EQ(error_of([&] { graph_.rename(y, "v"); }),
            "bad graph: rename: y is kept, its name stays");
}

TEST_F(GraphTest, NamesThatTextCanHold) {
  for (const char* good : {"x", "_", "w1.velocity", "A_b.2"}) EXPECT_TRUE(is_name(good)) << good;
  for (const char* bad : {"", "1x", ".x", "a b", "%3", "a-b", "\xC3\xA4"}) {
    EXPECT_FALSE(is_name(bad)) << bad;
  }
  EXPECT_TRUE(is_name(std::string(kMaxNameLength, 'a')));
  EXPECT_FALSE(is_name(std::string(kMaxNameLength + 1, 'a')));
  EXPECT_EQ(error_of([&] { graph_.keep(build::relu(graph_, x_), "two words"); }),
            "bad graph: graph: 'two words' is no name: a letter or _, then letters, digits, _ and "
            "dots, 128 at most");
}

TEST_F(GraphTest, RefusesDeclarations) {
  EXPECT_EQ(error_of([&] { (void)graph_.declare(Role::input, type_, "w"); }),
            "bad graph: graph: the name 'w' is taken");
  EXPECT_EQ(error_of([&] { (void)graph_.declare(Role::input, type_, ""); }),
            "bad graph: declare: input values need a name");
  EXPECT_EQ(error_of([&] { (void)graph_.declare(Role::computed, type_, "y"); }),
            "bad graph: declare 'y': a computed value is made by an op, not declared");
  EXPECT_EQ(error_of([&] { (void)graph_.declare(Role::saved, type_, "y"); }),
            "bad graph: declare 'y': a saved value is made by an op, not declared");
  EXPECT_EQ(error_of([&] {
              (void)graph_.declare(Role::input, {{0, 784}, DType::f32}, "images");
            }),
            "bad graph: images: dimension 0 of f32{0, 784} is below one");
  EXPECT_EQ(graph_.values().size(), 3U) << "nothing was added";
}

TEST_F(GraphTest, RefusesOps) {
  EXPECT_EQ(error_of([&] { (void)graph_.apply(OpKind::Relu, {ValueId{}}); }),
            "bad graph: Relu: input 0 is no value of this graph");
  EXPECT_EQ(error_of([&] {
              (void)graph_.apply(OpKind::Add, {x_, ValueId{3}});
            }),
            "bad graph: Add: input 1 is no value of this graph");
  EXPECT_EQ(error_of([&] {
              (void)graph_.apply(test::mixing_op(), std::vector<ValueId>(kMaxInputs + 1, x_),
                                 FillAttrs{type_, 0.0});
            }),
            "bad graph: TestMixing: 45 inputs, at most 44 are allowed");
  EXPECT_EQ(error_of([&] {
              (void)graph_.apply(OpKind::SgdUpdate, {x_, w_, rate_}, SgdAttrs{});
            }),
            "bad graph: SgdUpdate: output 0 would overwrite x, which is input, not a parameter or "
            "state");
  const ValueId labels = graph_.declare(Role::input, {{2}, DType::i32}, "labels");
  EXPECT_EQ(error_of([&] {
              (void)graph_.apply1(OpKind::SoftmaxCrossEntropy, {x_, labels});
            }),
            "bad graph: SoftmaxCrossEntropy: has 2 outputs, one was expected");
}

// The first output of this update is right, the second is not.
TEST_F(GraphTest, ARefusedOpLeavesNothingBehind) {
  EXPECT_EQ(
      error_of([&] {
        (void)graph_.apply(OpKind::MomentumUpdate, {w_, x_, x_, rate_}, MomentumAttrs{});
      }),
      "bad graph: MomentumUpdate: output 1 would overwrite x, which is input, not a parameter "
      "or state");
  EXPECT_EQ(graph_.values().size(), 3U);
  EXPECT_TRUE(graph_.ops().empty());
}

TEST_F(GraphTest, RefusesViews) {
  EXPECT_EQ(error_of([&] { (void)graph_.reshape(x_, {5}); }),
            "bad graph: Reshape: {2, 3} has 6 elements, {5} has 5");
  EXPECT_EQ(error_of([&] {
              (void)graph_.reshape(x_, {-2, -3});
            }),
            "bad graph: Reshape: dimension 0 of f32{-2, -3} is below one");
}

TEST_F(GraphTest, RolesHaveNames) {
  EXPECT_EQ(name(Role::input), "input");
  EXPECT_EQ(name(Role::parameter), "parameter");
  EXPECT_EQ(name(Role::state), "state");
  EXPECT_EQ(name(Role::computed), "computed");
  EXPECT_EQ(name(Role::saved), "saved");
}

}  // namespace
}  // namespace stepscope
