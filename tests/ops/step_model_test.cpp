// Models from step files: what is derived, and what a step file may not hold.
// SPDX-License-Identifier: Apache-2.0
#include "ops/models/step_model.h"

#include <gtest/gtest.h>

#include "ops/ir/op_def.h"
#include "ops/ir/parse.h"
#include "ops/ir/print.h"
#include "tests/support/errors.h"

namespace stepscope {
namespace {

using test::error_of;

constexpr std::string_view kInputs =
    "input x : f32{B, 4}\ninput labels : i32{B}\nparameter w1 : f32{4, 3} = he\n"
    "parameter b1 : f32{3} = zeros\n";
constexpr std::string_view kNet =
    "product = MatMul(x, w1)\nscores = AddBias(product, b1)\n"
    "loss, probabilities = SoftmaxCrossEntropy(scores, labels)\n";

Model model_of(std::string_view text, const OptimizerSpec& optimizer = {}) {
  return make_step_model(parse_step(fmt::format("stepscope-ir 1\n{}", text), "m.step"), "m",
                         optimizer);
}

std::string error_of_model(std::string_view text) {
  return error_of([&] { (void)model_of(text); });
}

std::string net(std::string_view more) { return fmt::format("{}{}{}", kInputs, kNet, more); }

std::vector<std::string> kinds(const Graph& graph) {
  std::vector<std::string> all;
  for (const Op& op : graph.ops()) all.emplace_back(name(op.kind));
  return all;
}

TEST(StepModel, DerivesWhatABuiltInModelHas) {
  const Model made = model_of(net(""), {.kind = OptimizerSpec::Kind::adam, .rate = 0.5});
  const Model built = make_model("mlp:4-3", {.kind = OptimizerSpec::Kind::adam, .rate = 0.5});
  EXPECT_EQ(made.name, "m");
  EXPECT_EQ(made.row, built.row);
  EXPECT_EQ(made.features, 4);
  EXPECT_EQ(made.classes, 3);
  EXPECT_TRUE(made.has_loss());
  for (const std::int64_t batch : {1, 7}) {
    EXPECT_EQ(kinds(made.step(batch)), kinds(built.step(batch)));
    EXPECT_EQ(kinds(made.evaluation(batch)), kinds(built.evaluation(batch)));
    EXPECT_TRUE(made.evaluation(batch).find("correct"));
  }
  ASSERT_EQ(made.initial.size(), built.initial.size());
  for (std::size_t i = 0; i < made.initial.size(); ++i) {
    EXPECT_EQ(made.initial[i].name, built.initial[i].name);
    EXPECT_EQ(made.initial[i].kind, built.initial[i].kind);
    EXPECT_EQ(made.initial[i].fan_in, built.initial[i].fan_in);
    EXPECT_EQ(made.initial[i].value, built.initial[i].value);
  }
}

TEST(StepModel, WithoutLabels) {
  const Model model = model_of(
      "input x : f32{B, 4}\nparameter w : f32{4, 4} = uniform(-1, 1)\ny = MatMul(x, w)\n"
      "d = Sub(y, x)\ns = Mul(d, d)\nrows = ReduceSum(s) {axis = 1}\n"
      "all = ReduceSum(rows)\nloss = Scale(all) {factor = 1/B/4} @ loss\nkeep y\n");
  EXPECT_EQ(model.classes, 0);
  EXPECT_TRUE(model.has_loss());
  EXPECT_FALSE(model.evaluation(3).find("correct"));
  EXPECT_TRUE(model.step(3).value(*model.step(3).find("y")).kept);
  EXPECT_EQ(model.initial[0].kind, Initial::Kind::uniform);
  EXPECT_EQ(model.initial[0].low, -1.0);
}

TEST(StepModel, NamedLogitsAreCounted) {
  const std::string heads = fmt::format(
      "{}scores = MatMul(x, w1)\nlogits = AddBias(scores, b1)\n"
      "first, p = SoftmaxCrossEntropy(scores, labels)\n"
      "second, q = SoftmaxCrossEntropy({}, labels)\nloss = Add(first, second)\n",
      kInputs, "logits");
  const Model model = model_of(heads);
  const Graph graph = model.evaluation(2);
  EXPECT_EQ(graph.label(graph.ops().back().inputs[0]), "logits");
}

// ---- What a step file may not hold.

struct Wrong {
  std::string text, message;
};

class StepModelMistakes : public testing::TestWithParam<Wrong> {};

TEST_P(StepModelMistakes, AreNamed) {
  EXPECT_EQ(error_of_model(GetParam().text),
            fmt::format("bad input: m.step{}", GetParam().message));
}

INSTANTIATE_TEST_SUITE_P(
    All, StepModelMistakes,
    testing::Values(
        Wrong{"input y : f32{B}\n",
              ":2:7: input 'y': the data has x and labels alone; take it out"},
        Wrong{"input x : f32{4, B}\n", ":2:11: input x is f32{4, B}, expected f32{B, ...}"},
        Wrong{"input x : f32{B, B}\n", ":2:11: input x is f32{B, B}, expected f32{B, ...}"},
        Wrong{"input x : f32{B}\n", ":2:11: input x is f32{B}, expected f32{B, ...}"},
        Wrong{"input x : i32{B, 2}\n", ":2:11: input x is i32{B, 2}, expected f32{B, ...}"},
        Wrong{"input labels : f32{B}\n", ":2:16: input labels is f32{B}, expected i32{B}"},
        Wrong{"", ": there is no `input x : f32{B, ...}`"},
        Wrong{"input x : f32{B, 2}\n", ": there is no `loss = ..., computed, of f32{}`"},
        Wrong{"input x : f32{B, 2}\nloss = Relu(x)\n", ":3:8: loss is f32{1, 2}, expected f32{}"},
        Wrong{"parameter w : f64{2} = zeros\n", ":2:15: parameter 'w' is f64, expected f32"},
        Wrong{"parameter w : f32{2}\n",
              ":2:11: parameter 'w' has no start, expected one, as in `= he` or `= zeros`"},
        Wrong{"state s : f32{2}\n",
              ":2:7: state 's': a step file declares no states, they come with the optimizer; take "
              "it out"},
        Wrong{net("y = Relu(x) @ backward\n"),
              ":9:5: Relu in phase backward: a step file says forward and loss alone, the rest is "
              "derived; take it out"},
        Wrong{net("rate = Fill() {type = f32{}, value = 1}\nw = SgdUpdate(w1, w1, rate)\n"),
              ":10:5: SgdUpdate overwrites w1: updates are derived; take it out"},
        Wrong{net("g = ReluGrad(x, x)\n"),
              ":9:5: ReluGrad has no gradient rule: it is for derived ops; take it out"},
        Wrong{net("i = Argmax(x)\ng = Gather(w1, i)\n"),
              ":10:5: Gather takes indices, which a step file has none of; take it out"},
        Wrong{net("i = Argmax(x)\nl, p = SoftmaxCrossEntropy(x, i)\n"),
              ":10:8: SoftmaxCrossEntropy reads i, expected the input labels"},
        Wrong{net("y = Reorder(x) {layout = 16}\n"),
              ":9:5: Reorder makes f32{1, 4}@16: layouts are a backend's own; take it out"},
        Wrong{fmt::format("parameter unused : f32{{2}} = zeros\n{}", net("")),
              ":2:11: the loss does not depend on parameter 'unused'; use it or take it out"},
        Wrong{"input x : f32{B, 2}\nr = ReduceSum(x)\nloss = ReduceSum(r)\n",
              ": there is no `parameter NAME : f32{...} = he`"},
        Wrong{"input x : f32{B, 2}\ninput labels : i32{B}\nparameter w : f32{2} = zeros\n"
              "y = AddBias(x, w)\nr = ReduceSum(y)\nloss = ReduceSum(r)\n",
              ":3:7: labels are read by no SoftmaxCrossEntropy; use them or take them out"},
        Wrong{net("seen = Cast(labels) {to = f32}\n"),
              ":9:8: Cast reads labels, SoftmaxCrossEntropy alone may"},
        Wrong{net("more, p = SoftmaxCrossEntropy(x, labels)\n"),
              ":9:11: a head of 4 classes on the labels of one of 3"},
        Wrong{net("more, p = SoftmaxCrossEntropy(product, labels)\n"),
              ": 2 SoftmaxCrossEntropy read labels; name the logits that accuracy is counted of "
              "`logits`"},
        Wrong{net("logits = Relu(x)\n"), ": logits are f32{1, 4} at B = 1, expected f32{1, 3}"},
        Wrong{net("correct = Relu(x)\n"),
              ":9:1: 'correct' is the name of the count of correct rows; choose another"},
        Wrong{net("p2 = x{B*4}\ncorrect = p2{B, 4}\n"),
              ":10:1: 'correct' is the name of the count of correct rows; choose another"},
        Wrong{net("control.lr = Relu(x)\n"),
              ":9:1: 'control.lr': names that begin with control. are those of the rate and the "
              "count of steps; choose another"},
        Wrong{net("w1.velocity = Relu(x)\n"),
              ":9:1: 'w1.velocity' is the name of a state that momentum adds to parameter 'w1'; "
              "choose another"},
        Wrong{fmt::format("parameter b1.m : f32{{3}} = zeros\n{}", net("")),
              ":2:11: 'b1.m' is the name of a state that adam adds to parameter 'b1'; choose "
              "another"},
        Wrong{fmt::format("parameter {0} : f32{{3}} = zeros\n", std::string(120, 'p')),
              fmt::format(":2:11: parameter '{}': the state that momentum adds would have 129 "
                          "characters in its name, at most 128 are allowed; choose a shorter name",
                          std::string(120, 'p'))},
        Wrong{net("keep x\nkeep w1\n"),
              ":10:6: keep reads parameter 'w1', which the update overwrites; it is readable "
              "anyway, take this out"},
        Wrong{net("v = b1{1, 3}\nkeep v{3}\n"),
              ":10:6: keep reads parameter 'b1', which the update overwrites; it is readable "
              "anyway, take this out"},
        Wrong{net("v = x{B, 1, 2, 2}\n%0, %1 = MaxPool(v)\nf = Cast(%1{B}) {to = f32}\n"),
              ":11:10: Cast reads %1: what MaxPool saves for its gradient is for that alone; take "
              "it out"},
        Wrong{net("v = x{B, 1, 2, 2}\nm, s = MaxPool(v)\nt = s{B}\nkeep m\nkeep t\n"),
              ":13:6: keep reads t: what MaxPool saves for its gradient is for that alone; take it "
              "out"},
        Wrong{net("y = Relu(x{4})\n"), ":9:10: Reshape: {2, 4} has 8 elements, {4} has 4"},
        Wrong{"input x : f32{B, 2}\nparameter w : f32{2, 2} = he\ny = MatMul(x, w)\n"
              "z = Argmax(y)\nc = Cast(z) {to = f32}\nloss = ReduceSum(c)\n",
              ":3:11: the loss does not depend on parameter 'w'; use it or take it out"},
        Wrong{"input x : f32{B, 2}\nparameter w : f32{2, 2} = he\ny = MatMul(x, w)\n"
              "i = Cast(y) {to = i32}\nc = Cast(i) {to = f32}\nr = ReduceSum(c)\n"
              "loss = ReduceSum(r)\n",
              ":3:11: the loss does not depend on parameter 'w'; use it or take it out"}));

// The state's name just fits.
TEST(StepModel, LongestNameOfAParameter) {
  const std::string longest(kMaxNameLength - std::string_view(".velocity").size(), 'p');
  const Model model =
      model_of(fmt::format("parameter {0} : f32{{3}} = zeros\n{1}product = MatMul(x, w1)\n"
                           "bias = Add({0}, b1)\nscores = AddBias(product, bias)\n"
                           "loss, p = SoftmaxCrossEntropy(scores, labels)\n",
                           longest, kInputs),
               {.kind = OptimizerSpec::Kind::momentum});
  EXPECT_TRUE(model.step(2).find(longest + ".velocity"));
}

}  // namespace
}  // namespace stepscope
