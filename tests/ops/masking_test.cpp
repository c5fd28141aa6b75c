// Whether rows can be left out by their label: all models, what keeps rows apart, and planted ops
// that mix them.
// SPDX-License-Identifier: Apache-2.0
#include "ops/models/masking.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "ops/ir/build.h"
#include "ops/ir/parse.h"
#include "ops/models/model.h"
#include "ops/models/step_model.h"

namespace stepscope {
namespace {

constexpr std::int64_t kBatch = 4;

// x {4, 6} -> logits {4, 3} by a product, labels, and what a test puts in between or behind.
class Masking : public testing::Test {
 protected:
  ValueId input(const Shape& shape, std::string name, DType dtype = DType::f32) {
    return graph_.declare(Role::input, {shape, dtype}, std::move(name));
  }
  ValueId parameter(const Shape& shape, std::string name) {
    return graph_.declare(Role::parameter, {shape, DType::f32}, std::move(name));
  }
  ValueId named(ValueId value, std::string name) {
    graph_.keep(value, std::move(name));
    return value;
  }
  ValueId loss_of(ValueId logits) {
    return build::softmax_cross_entropy(graph_, logits, labels_).loss;
  }
  std::string reason_of_loss(ValueId loss) {
    graph_.keep(loss, "loss");
    return why_rows_cannot_be_left_out(graph_, graph_);
  }
  std::string reason_of_logits(ValueId logits) { return reason_of_loss(loss_of(logits)); }
  std::string reason_of_hidden(ValueId hidden) {
    return reason_of_logits(build::matmul(graph_, hidden, w_));
  }

  Graph graph_;
  ValueId x_ = input({kBatch, 6}, "x");
  ValueId labels_ = input({kBatch}, "labels", DType::i32);
  ValueId w_ = parameter({6, 3}, "w");
};

TEST(MaskingOfModels, EveryModelWithALossPasses) {
  int with_loss = 0;
  for (const CatalogEntry& entry : catalog()) {
    const std::string settings = entry.name == "chain" ? "7" : entry.name == "fork" ? "2x3" : "";
    for (const std::int64_t batch : {1, 4}) {
      const Model model = entry.make(settings, {});
      if (!model.has_loss()) {
        EXPECT_EQ(why_rows_cannot_be_left_out(model.step(batch), model.step(2)),
                  "there is no loss");
        continue;
      }
      ++with_loss;
      EXPECT_EQ(why_rows_cannot_be_left_out(model.step(batch), model.step(2)), "") << model.name;
      EXPECT_EQ(why_rows_cannot_be_left_out(model.evaluation(batch), model.evaluation(2)), "")
          << model.name;
    }
  }
  EXPECT_GE(with_loss, 8);
}

TEST_F(Masking, WithoutLabelsThereIsNothingToLeaveOutBy) {
  Graph graph;
  const ValueId x = graph.declare(Role::input, {{2}, DType::f32}, "x");
  graph.keep(build::reduce_sum(graph, x, 0), "loss");
  EXPECT_EQ(why_rows_cannot_be_left_out(graph, graph), "there are no labels");
}

TEST_F(Masking, WhatKeepsRowsApartPasses) {
  ValueId hidden = build::mul(graph_, build::tanh(graph_, x_), build::scale(graph_, x_, 2.0));
  hidden = graph_.reshape(hidden, {kBatch, 2, 3});
  hidden = build::broadcast(graph_, build::reduce_sum(graph_, hidden, 1), 1, 2);
  hidden = graph_.reshape(hidden, {kBatch, 6});
  hidden = build::add_bias(graph_, hidden, parameter({6}, "b"));
  EXPECT_EQ(reason_of_hidden(hidden), "");
}

TEST_F(Masking, ImagesPass) {
  ValueId image = graph_.reshape(x_, {kBatch, 1, 2, 3});
  image = graph_.apply1(OpKind::Conv2d, {image, parameter({2, 1, 2, 1}, "k")}, Conv2dAttrs{});
  EXPECT_EQ(reason_of_hidden(graph_.reshape(image, {kBatch, 6})), "");
}

TEST_F(Masking, RowsOfATableByIndexPass) {
  Graph graph;
  const ValueId x = graph.declare(Role::input, {{kBatch}, DType::i32}, "x");
  const ValueId labels = graph.declare(Role::input, {{kBatch}, DType::i32}, "labels");
  const ValueId table = graph.declare(Role::parameter, {{9, 3}, DType::f32}, "table");
  const ValueId rows = graph.apply1(OpKind::Gather, {table, x});
  graph.keep(build::softmax_cross_entropy(graph, rows, labels).loss, "loss");
  EXPECT_EQ(why_rows_cannot_be_left_out(graph, graph), "");
}

TEST_F(Masking, LossesMayBeScaledAndAddedToTermsOfParameters) {
  const ValueId logits = build::matmul(graph_, x_, w_);
  const ValueId both = build::add(graph_, build::scale(graph_, loss_of(logits), 0.5),
                                  loss_of(build::scale(graph_, logits, 0.1)));
  ValueId decay = build::mul(graph_, w_, w_);
  decay = build::reduce_sum(graph_, build::reduce_sum(graph_, decay, 0), 0);
  EXPECT_EQ(reason_of_loss(build::add(graph_, both, build::scale(graph_, decay, 1e-3))), "");
}

TEST_F(Masking, MeanOverTheBatchIsNamed) {
  const ValueId mean = named(build::reduce_sum(graph_, x_, 0), "mean");
  const ValueId again = build::broadcast(graph_, mean, 0, kBatch);
  EXPECT_EQ(reason_of_hidden(build::sub(graph_, x_, again)),
            "ReduceSum makes mean from all rows of x");
}

TEST_F(Masking, AnotherWayToTheLossIsNamed) {
  ValueId other = named(build::reduce_sum(graph_, x_, 1), "per_row");
  other = named(build::reduce_sum(graph_, other, 0), "activity");
  const ValueId loss = build::add(graph_, loss_of(build::matmul(graph_, x_, w_)), other);
  EXPECT_EQ(reason_of_loss(loss), "ReduceSum makes activity from all rows of per_row");
}

TEST_F(Masking, ProductsOfTwoBatchesAreNamed) {
  const ValueId scores = named(build::matmul(graph_, x_, x_, {.transpose_b = true}), "scores");
  EXPECT_EQ(reason_of_hidden(build::matmul(graph_, scores, x_)),
            "MatMul makes scores from all rows of x");
}

TEST_F(Masking, ATransposedBatchIsNamed) {
  const ValueId turned = named(
      build::matmul(graph_, x_, parameter({kBatch, 2}, "v"), {.transpose_a = true}), "turned");
  const ValueId spread = build::matmul(graph_, parameter({kBatch, 6}, "u"), turned);
  EXPECT_EQ(reason_of_logits(build::matmul(graph_, spread, parameter({2, 3}, "p"))),
            "MatMul makes turned from all rows of x");
}

TEST_F(Masking, AReshapeAcrossRowsIsNamed) {
  ValueId hidden = named(graph_.reshape(x_, {2, 12}), "pairs");
  hidden = build::add_bias(graph_, hidden, parameter({12}, "b"));
  EXPECT_EQ(reason_of_hidden(graph_.reshape(hidden, {kBatch, 6})),
            "reshape makes pairs of other rows than x has");
}

TEST_F(Masking, ATableMadeOfRowsIsNamed) {
  const ValueId indices = input({kBatch}, "indices", DType::i32);
  const ValueId rows = named(graph_.apply1(OpKind::Gather, {x_, indices}), "rows");
  EXPECT_EQ(reason_of_hidden(rows), "Gather makes rows from all rows of x");
}

TEST_F(Masking, LabelsAreNoIndices) {
  const ValueId chosen =
      named(graph_.apply1(OpKind::Gather, {parameter({3, 6}, "table"), labels_}), "chosen");
  EXPECT_EQ(reason_of_hidden(build::add(graph_, x_, chosen)),
            "Gather makes chosen by the rows of labels");
}

TEST_F(Masking, OtherLabelsAreNamed) {
  const ValueId others = input({kBatch}, "others", DType::i32);
  const ValueId loss =
      build::softmax_cross_entropy(graph_, build::matmul(graph_, x_, w_), others).loss;
  EXPECT_EQ(reason_of_loss(loss), "SoftmaxCrossEntropy makes loss by other labels: others");
}

TEST_F(Masking, AnOpThatIsNotKnownToKeepRowsApartIsNamed) {
  const ValueId indices = input({kBatch}, "indices", DType::i32);
  const ValueId sums =
      named(graph_.apply1(OpKind::ScatterAdd, {x_, indices}, ScatterAddAttrs{kBatch}), "sums");
  EXPECT_EQ(reason_of_hidden(sums), "ScatterAdd makes sums in a way that may mix the rows of x");
}

// ---- What counts the rows left out, since it follows the size of the batch.

constexpr std::string_view kRows =
    "stepscope-ir 1\ninput x : f32{B, 6}\ninput labels : i32{B}\nparameter w : f32{6, 3} = he\n"
    "parameter c : f32{3} = constant(0.5)\nproduct = MatMul(x, w)\nz = AddBias(product, c)\n";

std::string reason_of_file(std::string_view rest) {
  const Model model = make_step_model(parse_step(fmt::format("{}{}", kRows, rest), "m"), "m");
  return why_rows_cannot_be_left_out(model.step(32), model.step(1));
}

TEST(MaskingOfFiles, NumbersWithoutTheBatchPass) {
  EXPECT_EQ(reason_of_file("logits = Scale(z) {factor = 1/3}\nkinds = Broadcast(c) {size = 5}\n"
                           "sums = ReduceSum(kinds)\ndecay = ReduceSum(sums)\nce, p = "
                           "SoftmaxCrossEntropy(logits, labels)\n"
                           "scaled = Scale(ce) {factor = 16}\nloss = Add(scaled, decay)\n"),
            "");
}

TEST(MaskingOfFiles, WhatIsNotOnTheWayMayCountRows) {
  EXPECT_EQ(reason_of_file("loss, p = SoftmaxCrossEntropy(z, labels)\n"
                           "other = Scale(z) {factor = 1/B}\nkeep other\n"),
            "");
}

TEST(MaskingOfFiles, AScaledLossIsNamed) {
  EXPECT_EQ(reason_of_file("ce, p = SoftmaxCrossEntropy(z, labels)\n"
                           "loss = Scale(ce) {factor = 16/B}\n"),
            "Scale makes loss with factor = 0.5 at a batch of 32, with factor = 16 at one of 1");
}

TEST(MaskingOfFiles, ScaledLogitsAreNamed) {
  EXPECT_EQ(
      reason_of_file("logits = Scale(z) {factor = 1/B}\n"
                     "loss, p = SoftmaxCrossEntropy(logits, labels)\n"),
      "Scale makes logits with factor = 0.03125 at a batch of 32, with factor = 1 at one of 1");
}

TEST(MaskingOfFiles, ATermOfEachRowIsNamed) {
  EXPECT_EQ(reason_of_file("ce, p = SoftmaxCrossEntropy(z, labels)\n"
                           "many = Broadcast(c) {size = B}\nsums = ReduceSum(many)\n"
                           "term = ReduceSum(sums)\n"
                           "loss = Add(ce, term)\n"),
            "Broadcast makes many with axis = 0, size = 32 at a batch of 32, with axis = 0, size = "
            "1 at one of 1");
  EXPECT_EQ(reason_of_file("ce, p = SoftmaxCrossEntropy(z, labels)\n"
                           "ones = Fill() {type = f32{B}, value = 1}\nterm = ReduceSum(ones)\n"
                           "loss = Add(ce, term)\n"),
            "Fill makes ones with type = f32{32}, value = 1 at a batch of 32, with type = f32{1}, "
            "value = 1 at one of 1");
}

// Models in C++ may do as they like at each batch.
TEST_F(Masking, AnotherShapeOrOpAtAnotherBatchIsNamed) {
  const auto step = [](std::int64_t batch) {
    Graph graph;
    const ValueId x = graph.declare(Role::input, {{batch, 6}, DType::f32}, "x");
    const ValueId labels = graph.declare(Role::input, {{batch}, DType::i32}, "labels");
    const ValueId term = graph.declare(Role::parameter, {{batch}, DType::f32}, "term");
    const ValueId loss =
        build::softmax_cross_entropy(
            graph, batch > 2 ? build::tanh(graph, x) : build::relu(graph, x), labels)
            .loss;
    graph.keep(build::add(graph, loss, build::reduce_sum(graph, term, 0)), "loss");
    return graph;
  };
  EXPECT_EQ(why_rows_cannot_be_left_out(step(2), step(1)),
            "ReduceSum makes %3 with f32{2} at a batch of 2, with f32{1} at one of 1");
  EXPECT_EQ(why_rows_cannot_be_left_out(step(4), step(1)),
            "Tanh makes %0 with Tanh at a batch of 4, with another op at one of 1");
}

}  // namespace
}  // namespace stepscope
