// Shape and work rules of convolutions, pools, indexing and conversions; what their gradients are.
// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include "ops/autodiff/backward.h"
#include "ops/ir/build.h"
#include "ops/ir/op_def.h"
#include "tests/support/errors.h"

namespace stepscope {
namespace {

using Types = std::vector<TensorType>;

TensorType f32(std::initializer_list<std::int64_t> dims) { return {Shape(dims), DType::f32}; }
TensorType u8(std::initializer_list<std::int64_t> dims) { return {Shape(dims), DType::u8}; }
TensorType i32(std::initializer_list<std::int64_t> dims) { return {Shape(dims), DType::i32}; }

std::string outcome(OpKind kind, const Types& in, const Attrs& attrs) {
  std::string types;
  const std::string error = test::error_of([&] {
    TypeList out;
    op_def(kind).infer(in, attrs, out);
    for (const TensorType& type : out) {
      check_type(type, name(kind));
      types += fmt::format("{}{}", types.empty() ? "" : ", ", to_string(type));
    }
  });
  return error == "no error" ? types : error;
}

TEST(ImageRules, Conv2d) {
  const auto op = OpKind::Conv2d;
  const TensorType x = f32({2, 3, 7, 9}), w = f32({5, 3, 3, 2});
  EXPECT_EQ(outcome(op, {x, w}, Conv2dAttrs{}), "f32{2, 5, 5, 8}");
  EXPECT_EQ(outcome(op, {x, w}, Conv2dAttrs{2, 3, 1, 2}), "f32{2, 5, 4, 4}");
  EXPECT_EQ(outcome(op, {x, w}, Conv2dAttrs{.layout = LayoutId{16}}), "f32{2, 5, 5, 8}@16");
  EXPECT_EQ(outcome(op, {x, f32({5, 3, 7, 9})}, Conv2dAttrs{}), "f32{2, 5, 1, 1}");
  EXPECT_EQ(outcome(op, {x, f32({5, 4, 3, 3})}, Conv2dAttrs{}),
            "bad graph: Conv2d: x {2, 3, 7, 9} has 3 channels, the weights {5, 4, 3, 3} take 4");
  EXPECT_EQ(outcome(op, {x, f32({5, 3, 10, 2})}, Conv2dAttrs{.pad_h = 1}),
            "bad graph: Conv2d: a kernel of 10 does not fit 7 padded by 1");
  EXPECT_EQ(outcome(op, {x, w}, Conv2dAttrs{.stride_h = 0}),
            "bad graph: Conv2d: strides must be 1 or more and paddings 0 or more, got 0 and 0");
  EXPECT_EQ(outcome(op, {x, w}, Conv2dAttrs{.pad_w = -1}),
            "bad graph: Conv2d: strides must be 1 or more and paddings 0 or more, got 1 and -1");
  EXPECT_EQ(outcome(op, {x, f32({5, 3})}, Conv2dAttrs{}),
            "bad graph: Conv2d: w must have rank 4, f32{5, 3} has rank 2");
  EXPECT_EQ(outcome(op, {i32({2, 3, 7, 9}), w}, Conv2dAttrs{}),
            "bad graph: Conv2d: x must be floating, got i32{2, 3, 7, 9}");
  EXPECT_EQ(outcome(op, {x, w}, Conv2dAttrs{.activation = Activation::relu}),
            "bad graph: Conv2d: takes no activation, got relu");
  EXPECT_EQ(outcome(op, {x}, Conv2dAttrs{}), "bad graph: Conv2d: takes 2 inputs, got 1");
}

TEST(ImageRules, GradientsOfConv2d) {
  const TensorType x = f32({2, 3, 7, 9}), w = f32({5, 3, 3, 2}), dy = f32({2, 5, 4, 4});
  EXPECT_EQ(outcome(OpKind::Conv2dInputGrad, {dy, w}, Conv2dGradAttrs{2, 3, 1, 2, 7, 9}),
            "f32{2, 3, 7, 9}");
  EXPECT_EQ(outcome(OpKind::Conv2dInputGrad, {dy, w}, Conv2dGradAttrs{2, 3, 1, 2, 7, 3}),
            "bad graph: Conv2dInputGrad: dy is {2, 5, 4, 4}, an input of {2, 3, 7, 3} gives "
            "{2, 5, 4, 2}");
  EXPECT_EQ(outcome(OpKind::Conv2dWeightGrad, {x, dy}, Conv2dGradAttrs{2, 3, 1, 2, 3, 2}),
            "f32{5, 3, 3, 2}");
  EXPECT_EQ(outcome(OpKind::Conv2dWeightGrad, {x, dy}, Conv2dGradAttrs{2, 3, 1, 2, 5, 2}),
            "bad graph: Conv2dWeightGrad: dy is {2, 5, 4, 4}, weights of {5, 3, 5, 2} give "
            "{2, 5, 3, 4}");
  EXPECT_EQ(outcome(OpKind::BiasGrad, {dy}, {}), "f32{5}");
  EXPECT_EQ(outcome(OpKind::BiasGrad, {f32({5})}, {}),
            "bad graph: BiasGrad: dy must have rank 2 or more, got f32{5}");
}

TEST(ImageRules, Pools) {
  const TensorType x = f32({2, 3, 7, 9});
  EXPECT_EQ(outcome(OpKind::MaxPool, {x}, Pool2dAttrs{}), "f32{2, 3, 3, 4}, u8{2, 3, 3, 4}");
  EXPECT_EQ(outcome(OpKind::AvgPool, {x}, Pool2dAttrs{3, 2, 1, 3, 1, 0}), "f32{2, 3, 7, 3}");
  EXPECT_EQ(outcome(OpKind::MaxPool, {x}, Pool2dAttrs{.pad_h = 2}),
            "bad graph: MaxPool: a padding of 2 leaves windows of 2 with nothing but padding");
  EXPECT_EQ(outcome(OpKind::MaxPool, {x}, Pool2dAttrs{.kernel_h = 8}),
            "bad graph: MaxPool: a window of 8 does not fit 7 padded by 0");
  EXPECT_EQ(outcome(OpKind::MaxPoolGrad, {f32({2, 3, 3, 4}), u8({2, 3, 3, 4})},
                    Pool2dGradAttrs{.height = 7, .width = 9}),
            "f32{2, 3, 7, 9}");
  EXPECT_EQ(outcome(OpKind::MaxPoolGrad, {f32({2, 3, 3, 4}), u8({2, 3, 3, 5})},
                    Pool2dGradAttrs{.height = 7, .width = 9}),
            "bad graph: MaxPoolGrad: the saved winners are u8{2, 3, 3, 5}, expected are those of "
            "{2, 3, 3, 4}");
  EXPECT_EQ(
      outcome(OpKind::AvgPoolGrad, {f32({2, 3, 3, 4})}, Pool2dGradAttrs{.height = 8, .width = 9}),
      "bad graph: AvgPoolGrad: dy is {2, 3, 3, 4}, an input of {2, 3, 8, 9} gives "
      "{2, 3, 4, 4}");
}

// Places in a window, and what libraries take as settings, are numbers of 32 bits.
TEST(ImageRules, WindowsAreBounded) {
  constexpr std::int64_t kLarge = std::int64_t{1} << 31;
  const TensorType x = f32({1, 1, 4, 4}), w = f32({1, 1, 3, 3});
  const Pool2dAttrs window{46'341, 46'341, 1, 1, 46'340, 46'340};
  const Pool2dGradAttrs grad{46'341, 46'341, 1, 1, 46'340, 46'340, 4, 4};
  const TensorType y = f32({1, 1, 46'344, 46'344}), places = u8({1, 1, 46'344, 46'344});
  const std::string many = ": a window of 46341 x 46341 has more than 2147483647 places";
  EXPECT_EQ(outcome(OpKind::MaxPool, {x}, window), "bad graph: MaxPool" + many);
  EXPECT_EQ(outcome(OpKind::AvgPool, {x}, window), "bad graph: AvgPool" + many);
  EXPECT_EQ(outcome(OpKind::MaxPoolGrad, {y, places}, grad), "bad graph: MaxPoolGrad" + many);
  EXPECT_EQ(outcome(OpKind::MaxPoolReluGrad, {y, places, y}, grad),
            "bad graph: MaxPoolReluGrad" + many);
  EXPECT_EQ(outcome(OpKind::AvgPoolGrad, {y}, grad), "bad graph: AvgPoolGrad" + many);
  EXPECT_EQ(outcome(OpKind::AvgPool, {x}, Pool2dAttrs{46'340, 46'340, 1, 1, 46'339, 46'339}),
            "f32{1, 1, 46343, 46343}");
  EXPECT_EQ(outcome(OpKind::MaxPool, {x}, Pool2dAttrs{.stride_w = kLarge}),
            "bad graph: MaxPool: an image of 4, a window of 2, a stride of 2147483648 or a padding "
            "of 0 is above 2147483647");
  for (const Conv2dAttrs& attrs : {Conv2dAttrs{.stride_h = kLarge}, Conv2dAttrs{.pad_w = kLarge}}) {
    EXPECT_NE(outcome(OpKind::Conv2d, {x, w}, attrs).find("is above 2147483647"),
              std::string::npos);
  }
  EXPECT_EQ(outcome(OpKind::Conv2d, {x, w}, Conv2dAttrs{.pad_h = kLarge / 2}),
            "bad graph: Conv2d: an image of 4 padded by 1073741824 is above 2147483647");
  EXPECT_NE(outcome(OpKind::Conv2dWeightGrad, {x, x}, Conv2dGradAttrs{.height = kLarge})
                .find("is above 2147483647"),
            std::string::npos);
}

TEST(ImageRules, PoolsKeepTheLayout) {
  const TensorType x{{2, 3, 8, 8}, DType::f32, LayoutId{16}};
  EXPECT_EQ(outcome(OpKind::MaxPool, {x}, Pool2dAttrs{}), "f32{2, 3, 4, 4}@16, u8{2, 3, 4, 4}");
  EXPECT_EQ(outcome(OpKind::Relu, {x}, {}), "f32{2, 3, 8, 8}@16");
  EXPECT_EQ(outcome(OpKind::AddBias, {x, f32({3})}, {}), "f32{2, 3, 8, 8}@16");
  EXPECT_EQ(outcome(OpKind::Add, {x, f32({2, 3, 8, 8})}, {}),
            "bad graph: Add: operand types differ, f32{2, 3, 8, 8}@16 and f32{2, 3, 8, 8}");
  EXPECT_EQ(outcome(OpKind::BiasGrad, {x}, {}), "f32{3}");
}

TEST(ImageRules, Indexing) {
  EXPECT_EQ(outcome(OpKind::Gather, {f32({7, 3, 2}), i32({5})}, {}), "f32{5, 3, 2}");
  EXPECT_EQ(outcome(OpKind::Gather, {f32({7}), i32({5})}, {}), "f32{5}");
  EXPECT_EQ(outcome(OpKind::Gather, {f32({7, 3}), f32({5})}, {}),
            "bad graph: Gather: indices must be i32, got f32{5}");
  EXPECT_EQ(outcome(OpKind::Gather, {f32({}), i32({5})}, {}),
            "bad graph: Gather: the table must have rank 1 or more, got f32{}");
  EXPECT_EQ(outcome(OpKind::ScatterAdd, {f32({5, 3}), i32({5})}, ScatterAddAttrs{7}), "f32{7, 3}");
  EXPECT_EQ(outcome(OpKind::ScatterAdd, {f32({5, 3}), i32({4})}, ScatterAddAttrs{7}),
            "bad graph: ScatterAdd: 4 indices for 5 rows");
  EXPECT_EQ(outcome(OpKind::ScatterAdd, {f32({5, 3}), i32({5})}, ScatterAddAttrs{0}),
            "bad graph: ScatterAdd: rows must be 1 or more, got 0");
}

TEST(ImageRules, Conversions) {
  EXPECT_EQ(outcome(OpKind::Cast, {u8({2, 3})}, CastAttrs{DType::f32}), "f32{2, 3}");
  EXPECT_EQ(outcome(OpKind::Reorder, {f32({2, 3, 4, 4})}, ReorderAttrs{LayoutId{16}}),
            "f32{2, 3, 4, 4}@16");
  EXPECT_EQ(outcome(OpKind::Reorder, {i32({2, 3})}, ReorderAttrs{LayoutId{16}}),
            "bad graph: Reorder: only floating values have layouts, got i32{2, 3}");
  EXPECT_EQ(outcome(OpKind::Reorder, {f32({2, 3})}, ReorderAttrs{LayoutId{1024}}),
            "bad graph: Reorder: f32{2, 3}@1024 has a layout that is not below 1024");
}

Work work_of(OpKind kind, const Types& in, const Attrs& attrs) {
  TypeList out;
  op_def(kind).infer(in, attrs, out);
  return op_def(kind).work(in, {out.data(), out.size()}, attrs);
}

// The forward pass and both gradients of a convolution take the same products.
TEST(ImageRules, WorkOfConvolutions) {
  const TensorType x = f32({2, 3, 7, 9}), w = f32({5, 3, 3, 2}), dy = f32({2, 5, 5, 8});
  constexpr double kFlops = 2.0 * 2 * 5 * 5 * 8 * 3 * 3 * 2;
  constexpr double kX = 4.0 * 2 * 3 * 7 * 9, kW = 4.0 * 5 * 3 * 3 * 2, kY = 4.0 * 2 * 5 * 5 * 8;
  for (const Work& work :
       {work_of(OpKind::Conv2d, {x, w}, Conv2dAttrs{}),
        work_of(OpKind::Conv2dInputGrad, {dy, w}, Conv2dGradAttrs{1, 1, 0, 0, 7, 9}),
        work_of(OpKind::Conv2dWeightGrad, {x, dy}, Conv2dGradAttrs{1, 1, 0, 0, 3, 2})}) {
    EXPECT_EQ(work.flops, kFlops);
    EXPECT_EQ(work.bytes, kX + kW + kY);
  }
  EXPECT_EQ(work_of(OpKind::MaxPool, {x}, Pool2dAttrs{3, 2, 1, 1, 0, 0}).flops,
            2.0 * 3 * 5 * 8 * 6);
  EXPECT_EQ(work_of(OpKind::Gather, {f32({1000, 4}), i32({3})}, {}).bytes, 2 * 48 + 12)
      << "of the table, only the rows that are taken";
}

std::vector<std::string_view> gradient_ops(Graph& graph, ValueId y, ValueId wrt) {
  while (graph.type(y).shape.rank() > 0) y = build::reduce_sum(graph, y, 0);
  const std::size_t forward = graph.ops().size();
  (void)add_backward(graph, y, std::array{wrt});
  std::vector<std::string_view> kinds;
  for (std::size_t i = forward; i < graph.ops().size(); ++i) {
    if (graph.ops()[i].kind != OpKind::Fill && graph.ops()[i].kind != OpKind::Broadcast) {
      kinds.push_back(name(graph.ops()[i].kind));
    }
  }
  return kinds;
}

using Kinds = std::vector<std::string_view>;

TEST(ImageRules, GradientsAreMadeOfTheirOwnOps) {
  Graph graph;
  const ValueId x = graph.declare(Role::parameter, f32({2, 3, 8, 8}), "x");
  const ValueId w = graph.declare(Role::parameter, f32({5, 3, 3, 3}), "w");
  const ValueId y = graph.apply1(OpKind::Conv2d, {x, w}, Conv2dAttrs{.pad_h = 1, .pad_w = 1});
  EXPECT_EQ(gradient_ops(graph, y, w), Kinds{"Conv2dWeightGrad"});
  EXPECT_EQ(gradient_ops(graph, y, x), Kinds{"Conv2dInputGrad"});
  EXPECT_EQ(gradient_ops(graph, graph.apply(OpKind::MaxPool, {y}, Pool2dAttrs{})[0], w),
            (Kinds{"MaxPoolGrad", "Conv2dWeightGrad"}));
  EXPECT_EQ(gradient_ops(graph, graph.apply1(OpKind::AvgPool, {x}, Pool2dAttrs{}), x),
            Kinds{"AvgPoolGrad"});
  const ValueId rows = graph.declare(Role::input, i32({4}), "rows");
  EXPECT_EQ(gradient_ops(graph, graph.apply1(OpKind::Gather, {x, rows}), x), Kinds{"ScatterAdd"});
  const ValueId spread = graph.apply1(
      OpKind::ScatterAdd, {x, graph.declare(Role::input, i32({2}), "two")}, ScatterAddAttrs{9});
  EXPECT_EQ(gradient_ops(graph, spread, x), Kinds{"Gather"});
  const ValueId wide = graph.apply1(OpKind::Cast, {x}, CastAttrs{DType::f64});
  EXPECT_EQ(gradient_ops(graph, wide, x), Kinds{"Cast"});
}

// Where both are wanted, the gradient of the input reads the weights before an update that follows
// their gradient can change them.
TEST(ImageRules, TheGradientOfTheInputStandsFirst) {
  Graph graph;
  const ValueId x = graph.declare(Role::parameter, f32({2, 3, 8, 8}), "x");
  const ValueId w = graph.declare(Role::parameter, f32({5, 3, 3, 3}), "w");
  ValueId loss = graph.apply1(OpKind::Conv2d, {x, w}, Conv2dAttrs{});
  while (graph.type(loss).shape.rank() > 0) loss = build::reduce_sum(graph, loss, 0);
  (void)add_backward(graph, loss, std::array{x, w});
  const std::size_t count = graph.ops().size();
  EXPECT_EQ(graph.ops()[count - 2].kind, OpKind::Conv2dInputGrad);
  EXPECT_EQ(graph.ops()[count - 1].kind, OpKind::Conv2dWeightGrad);
}

}  // namespace
}  // namespace stepscope
