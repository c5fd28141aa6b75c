// The op table: built-in ops in order, and ops added at run time.
// SPDX-License-Identifier: Apache-2.0
#include "ops/ir/op_def.h"

#include <gtest/gtest.h>

#include <set>

#include "tests/support/errors.h"

namespace stepscope {
namespace {

using test::error_of;

void infer_same(std::span<const TensorType> in, const Attrs&, TypeList& out) {
  out.push_back(in[0]);
}
Work no_work(std::span<const TensorType>, std::span<const TensorType>, const Attrs&) { return {}; }

// The enumerators and the definitions come from one list; a definition under a wrong name would
// show.
TEST(OpTable, NamesMatchTheirKinds) {
  std::set<std::string_view> names;
#define STEPSCOPE_OP(op)                 \
  EXPECT_EQ(name(OpKind::op), #op);      \
  EXPECT_TRUE(names.insert(#op).second); \
  EXPECT_NE(op_def(OpKind::op).infer, nullptr) << #op;
#include "ops/ir/op_list.inc"
#undef STEPSCOPE_OP
  EXPECT_EQ(names.size(), kBuiltinOps);
}

TEST(OpTable, GradientOpsAndUpdatesHaveNoGradient) {
  for (const OpKind kind :
       {OpKind::ReluGrad, OpKind::TanhGrad, OpKind::SigmoidGrad, OpKind::SoftmaxCrossEntropyGrad,
        OpKind::SgdUpdate, OpKind::MomentumUpdate, OpKind::AdamUpdate, OpKind::ScheduledRate,
        OpKind::Argmax}) {
    EXPECT_EQ(op_def(kind).vjp, nullptr) << name(kind);
  }
}

TEST(OpTable, TakesOpsFromOutside) {
  const std::size_t before = op_count();
  const OpKind kind = add_op({.name = "TestSame", .infer = infer_same, .work = no_work});
  EXPECT_EQ(op_count(), before + 1);
  EXPECT_EQ(static_cast<std::size_t>(kind), before);
  EXPECT_EQ(name(kind), "TestSame");
  Graph graph;
  const ValueId x = graph.declare(Role::input, {{2}, DType::f32}, "x");
  const ValueId y = graph.apply1(kind, {x});
  EXPECT_EQ(graph.type(y), graph.type(x));
}

TEST(OpTable, RefusesOpsFromOutsideThatAreIncomplete) {
  const auto error = [](const OpDef& def) { return error_of([&] { (void)add_op(def); }); };
  const std::size_t before = op_count();
  EXPECT_EQ(error({.name = "MatMul", .infer = infer_same, .work = no_work}),
            "bad graph: add_op: there is an op 'MatMul' already");
  EXPECT_EQ(error({.name = "TestHalf", .infer = infer_same}),
            "bad graph: add_op 'TestHalf': name, infer and work are required");
  EXPECT_EQ(error({.name = "TestHalf", .work = no_work}),
            "bad graph: add_op 'TestHalf': name, infer and work are required");
  EXPECT_EQ(error({.infer = infer_same, .work = no_work}),
            "bad graph: add_op '': name, infer and work are required");
  EXPECT_EQ(op_count(), before);
}

TEST(OpTable, SaysThatAKindIsNotInIt) {
  EXPECT_EQ(error_of([] { (void)op_def(static_cast<OpKind>(60'000)); }),
            fmt::format("bad graph: op 60000 is not in the table of {} ops", op_count()));
}

}  // namespace
}  // namespace stepscope
