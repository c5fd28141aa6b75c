// Models: names, graphs, and how parameters and states start.
// SPDX-License-Identifier: Apache-2.0
#include "ops/models/model.h"

#include <gtest/gtest.h>

#include <cmath>
#include <cstring>
#include <set>

#include "ops/base/philox.h"
#include "ops/ir/op_def.h"
#include "ops/ir/verify.h"
#include "tests/support/errors.h"

namespace stepscope {
namespace {

using test::error_of;

std::string error_of_model(std::string_view spec) {
  return error_of([&] { (void)make_model(spec); });
}

std::vector<std::string> kinds(const Graph& graph) {
  std::vector<std::string> all;
  for (const Op& op : graph.ops()) all.emplace_back(name(op.kind));
  return all;
}

TEST(Catalog, CanonicalNames) {
  EXPECT_EQ(make_model("mlp").name, "mlp:784-128-10");
  EXPECT_EQ(make_model("mlp:784-512-256-10").name, "mlp:784-512-256-10");
  EXPECT_EQ(make_model("mlp:004-3-2").name, "mlp:4-3-2");
  EXPECT_EQ(make_model("mlp_tanh").name, "mlp_tanh:784-128-10");
  EXPECT_EQ(make_model("chain:50").name, "chain:50");
  EXPECT_EQ(make_model("chain:050:256").name, "chain:50") << "256 is the default";
  EXPECT_EQ(make_model("chain:50:0128").name, "chain:50:128");
  EXPECT_EQ(make_model("small_cnn").name, "small_cnn");
  EXPECT_EQ(make_model("lenet").name, "lenet");
  EXPECT_EQ(make_model("fork:04x50:256").name, "fork:4x50");
  EXPECT_EQ(make_model("fork:4x50:64").name, "fork:4x50:64");
}

TEST(Catalog, EveryEntryMakesAModel) {
  std::set<std::string_view> names;
  for (const CatalogEntry& entry : catalog()) {
    EXPECT_TRUE(names.insert(entry.name).second);
    EXPECT_EQ(entry.syntax.substr(0, entry.name.size()), entry.name);
    EXPECT_FALSE(entry.summary.empty());
    const std::string settings = entry.name == "chain" ? "7" : entry.name == "fork" ? "2x3" : "";
    const Model model = entry.make(settings, {});
    EXPECT_EQ(make_model(model.name).name, model.name) << "a canonical name makes itself";
  }
}

TEST(Catalog, WrongNames) {
  EXPECT_EQ(error_of_model("mpl"),
            "bad input: unknown model 'mpl': did you mean 'mlp'? "
            "(there are: mlp, mlp_tanh, small_cnn, lenet, chain, fork)");
  EXPECT_EQ(error_of_model("chian:5"),
            "bad input: unknown model 'chian': did you mean 'chain'? "
            "(there are: mlp, mlp_tanh, small_cnn, lenet, chain, fork)");
  EXPECT_EQ(error_of_model("mlp:"), "bad input: model 'mlp:': nothing follows the colon");
}

TEST(Catalog, WrongSizes) {
  const std::string range = "is no whole number from 1 to 2147483647";
  EXPECT_EQ(error_of_model("mlp:784"),
            "bad input: model 'mlp:784': needs at least two sizes, input and classes, as in "
            "mlp:784-128-10");
  EXPECT_EQ(error_of_model("mlp:784-x-10"), "bad input: model 'mlp:784-x-10': 'x' " + range);
  EXPECT_EQ(error_of_model("mlp:784--10"), "bad input: model 'mlp:784--10': '' " + range);
  EXPECT_EQ(error_of_model("mlp:784-0-10"), "bad input: model 'mlp:784-0-10': '0' " + range);
  EXPECT_EQ(error_of_model("mlp:784-1e3"), "bad input: model 'mlp:784-1e3': '1e3' " + range);
  EXPECT_EQ(error_of_model("mlp:2147483648-2"),
            "bad input: model 'mlp:2147483648-2': '2147483648' " + range);
  EXPECT_EQ(error_of_model("mlp:99999999999999999999-2"),
            "bad input: model 'mlp:99999999999999999999-2': '99999999999999999999' " + range);
  EXPECT_EQ(error_of_model("mlp:784-128-1"),
            "bad input: model 'mlp:784-128-1': 1 class is no choice, 2 at least");
  EXPECT_EQ(error_of_model("mlp_tanh:3-1"),
            "bad input: model 'mlp_tanh:3-1': 1 class is no choice, 2 at least");
  EXPECT_EQ(error_of_model("chain"), "bad input: model 'chain': needs a length, as in chain:50");
  EXPECT_EQ(error_of_model("chain:0"), "bad input: model 'chain:0': '0' " + range);
  EXPECT_EQ(error_of_model("chain:1:2:3"),
            "bad input: model 'chain:1:2:3': takes a length and elements, as in chain:50:256");
  EXPECT_EQ(error_of_model("chain:100001"), "bad input: model 'chain:100001': at most 100000 ops");
  EXPECT_EQ(error_of_model("small_cnn:3"),
            "bad input: model 'small_cnn:3': small_cnn takes no settings");
  EXPECT_EQ(error_of_model("lenet:3"), "bad input: model 'lenet:3': lenet takes no settings");
}

TEST(Catalog, WrongForks) {
  EXPECT_EQ(error_of_model("fork"),
            "bad input: model 'fork': needs chains and their length, as in fork:4x50");
  for (const std::string wrong : {"fork:4", "fork:4x5x6", "fork:4x5:6:7"}) {
    EXPECT_EQ(error_of_model(wrong),
              "bad input: model '" + wrong +
                  "': takes chains x length and elements, as in fork:4x50:256");
  }
  EXPECT_EQ(error_of_model("fork:4x0"),
            "bad input: model 'fork:4x0': '0' is no whole number from 1 to 2147483647");
  EXPECT_EQ(error_of_model("fork:4x5:"),
            "bad input: model 'fork:4x5:': '' is no whole number from 1 to 2147483647");
  EXPECT_EQ(error_of_model("fork:4097x1"), "bad input: model 'fork:4097x1': at most 4096 chains");
  EXPECT_EQ(error_of_model("fork:10x10000"),
            "bad input: model 'fork:10x10000': 100009 ops, at most 100000");
}

TEST(Mlp, OpsOfAStep) {
  const Graph graph = make_model("mlp").step(32);
  EXPECT_EQ(kinds(graph),
            (std::vector<std::string>{
                "MatMul", "AddBias", "Relu", "MatMul", "AddBias", "SoftmaxCrossEntropy", "Fill",
                "SoftmaxCrossEntropyGrad", "ReduceSum", "MatMul", "MatMul", "ReluGrad", "ReduceSum",
                "MatMul", "SgdUpdate", "SgdUpdate", "SgdUpdate", "SgdUpdate"}));
  EXPECT_EQ(graph.type(*graph.find("x")), (TensorType{{32, 784}, DType::f32}));
  EXPECT_EQ(graph.type(*graph.find("labels")), (TensorType{{32}, DType::i32}));
  EXPECT_EQ(graph.type(*graph.find("w1")), (TensorType{{784, 128}, DType::f32}));
  EXPECT_EQ(graph.type(*graph.find("b2")), (TensorType{{10}, DType::f32}));
  EXPECT_TRUE(graph.value(*graph.find("loss")).kept);
}

TEST(Mlp, PhasesOfAStep) {
  const Graph graph = make_model("mlp").step(32);
  std::map<std::string, int> ops;
  for (const Op& op : graph.ops()) ++ops[to_string(op.phases)];
  EXPECT_EQ(ops, (std::map<std::string, int>{
                     {"forward", 5}, {"loss", 1}, {"backward", 8}, {"update", 4}}));
}

TEST(Mlp, Evaluation) {
  const Graph graph = make_model("mlp:4-3-2").evaluation(7);
  EXPECT_EQ(kinds(graph),
            (std::vector<std::string>{"MatMul", "AddBias", "Relu", "MatMul", "AddBias",
                                      "SoftmaxCrossEntropy", "CorrectCount"}));
  EXPECT_TRUE(graph.value(*graph.find("loss")).kept);
  EXPECT_EQ(graph.type(*graph.find("correct")), (TensorType{{}, DType::i32}));
}

TEST(Mlp, OtherActivationAndDepth) {
  const std::vector<std::string> ops = kinds(make_model("mlp_tanh:5-4-3-2").step(1));
  EXPECT_EQ(std::count(ops.begin(), ops.end(), "Tanh"), 2);
  EXPECT_EQ(std::count(ops.begin(), ops.end(), "TanhGrad"), 2);
  EXPECT_EQ(std::count(ops.begin(), ops.end(), "Relu"), 0);
  EXPECT_EQ(std::count(ops.begin(), ops.end(), "SgdUpdate"), 6);
  const Model shallow = make_model("mlp:5-2");
  EXPECT_EQ(kinds(shallow.evaluation(1)),
            (std::vector<std::string>{"MatMul", "AddBias", "SoftmaxCrossEntropy", "CorrectCount"}));
  EXPECT_EQ(shallow.row, Shape({5}));
  EXPECT_EQ(shallow.features, 5);
  EXPECT_EQ(shallow.classes, 2);
}

TEST(Mlp, RefusesABatchOfNothing) {
  EXPECT_EQ(error_of([] { (void)make_model("mlp:4-3-2").step(0); }),
            "bad graph: x: dimension 0 of f32{0, 4} is below one");
}

TEST(Chain, HalvesAndDoublesInTurn) {
  const Model model = make_model("chain:5:16");
  const Graph graph = model.step(3);
  ASSERT_EQ(graph.ops().size(), 5U);
  for (std::size_t i = 0; i < 5; ++i) {
    EXPECT_EQ(graph.ops()[i].attrs, Attrs(ScaleAttrs{i % 2 == 0 ? 0.5 : 2.0}));
    EXPECT_EQ(graph.ops()[i].inputs[0].index, static_cast<std::int32_t>(i)) << "each of the last";
  }
  EXPECT_EQ(graph.type(*graph.find("out")), (TensorType{{3, 16}, DType::f32}));
  EXPECT_EQ(model.features, 16);
  EXPECT_EQ(model.classes, 0);
  EXPECT_TRUE(model.initial.empty());
  EXPECT_FALSE(model.evaluation);
}

std::int64_t parameters_of(const Graph& graph) {
  std::int64_t elements = 0;
  for (const Value& value : graph.values()) {
    if (value.role == Role::parameter && value.producer < 0)
      elements += value.type.shape.elements();
  }
  return elements;
}

TEST(SmallCnn, OpsOfAStep) {
  const Model model = make_model("small_cnn");
  const Graph graph = model.step(32);
  EXPECT_EQ(kinds(model.evaluation(32)),
            (std::vector<std::string>{"Conv2d", "AddBias", "Relu", "MaxPool", "Conv2d", "AddBias",
                                      "Relu", "MaxPool", "MatMul", "AddBias", "SoftmaxCrossEntropy",
                                      "CorrectCount"}));
  const std::vector<std::string> ops = kinds(graph);
  const auto count = [&](std::string_view kind) {
    return std::count(ops.begin(), ops.end(), kind);
  };
  EXPECT_EQ(count("Conv2dWeightGrad"), 2);
  EXPECT_EQ(count("Conv2dInputGrad"), 1) << "nobody asks for the gradient of x";
  EXPECT_EQ(count("BiasGrad"), 2);
  EXPECT_EQ(count("MaxPoolGrad"), 2);
  EXPECT_EQ(count("SgdUpdate"), 6);
  EXPECT_EQ(parameters_of(graph), 2979);
  EXPECT_EQ(model.row, Shape({1, 24, 24}));
  EXPECT_EQ(model.features, 576);
  EXPECT_EQ(model.classes, 3);
}

TEST(SmallCnn, Shapes) {
  const Graph graph = make_model("small_cnn").step(32);
  const auto shape = [&](std::string_view name) { return graph.type(*graph.find(name)).shape; };
  EXPECT_EQ(shape("x"), Shape({32, 1, 24, 24}));
  EXPECT_EQ(shape("w1"), Shape({8, 1, 3, 3}));
  EXPECT_EQ(shape("b1"), Shape({8}));
  EXPECT_EQ(shape("w2"), Shape({16, 8, 3, 3}));
  EXPECT_EQ(shape("b2"), Shape({16}));
  EXPECT_EQ(shape("w3"), Shape({576, 3}));
  EXPECT_EQ(shape("b3"), Shape({3}));
}

TEST(Lenet, Shapes) {
  const Model model = make_model("lenet");
  const Graph graph = model.step(4);
  const auto shape = [&](std::string_view name) { return graph.type(*graph.find(name)).shape; };
  EXPECT_EQ(shape("x"), Shape({4, 1, 28, 28}));
  EXPECT_EQ(shape("w1"), Shape({6, 1, 5, 5}));
  EXPECT_EQ(shape("w2"), Shape({16, 6, 5, 5}));
  EXPECT_EQ(shape("w3"), Shape({400, 120}));
  EXPECT_EQ(shape("w4"), Shape({120, 84}));
  EXPECT_EQ(shape("w5"), Shape({84, 10}));
  EXPECT_EQ(shape("b5"), Shape({10}));
  EXPECT_EQ(parameters_of(graph), 61706);
  EXPECT_EQ(model.row, Shape({1, 28, 28}));
  EXPECT_EQ(model.features, 784);
  EXPECT_EQ(model.classes, 10);
  const std::vector<std::string> ops = kinds(graph);
  EXPECT_EQ(std::count(ops.begin(), ops.end(), "Relu"), 4);
  EXPECT_EQ(std::count(ops.begin(), ops.end(), "MaxPool"), 2);
}

TEST(Lenet, PadsTheFirstConvolutionAlone) {
  const Graph graph = make_model("lenet").evaluation(1);
  std::vector<Shape> made;
  for (const Op& op : graph.ops()) {
    if (op.kind == OpKind::Conv2d) made.push_back(graph.type(op.outputs[0]).shape);
  }
  EXPECT_EQ(made, (std::vector<Shape>{{1, 6, 28, 28}, {1, 16, 10, 10}}));
}

// ---- Forks.

// Ops on the longest way to `out`.
std::int64_t longest_way(const Graph& graph) {
  std::vector<std::int64_t> length(graph.values().size());
  for (const Op& op : graph.ops()) {
    std::int64_t longest = 0;
    for (const ValueId id : op.inputs) {
      longest = std::max(longest, length[static_cast<std::size_t>(id.index)]);
    }
    length[static_cast<std::size_t>(op.outputs[0].index)] = longest + 1;
  }
  return length[static_cast<std::size_t>(graph.find("out")->index)];
}

TEST(Fork, HasTheOpsAndTheDepthItSays) {
  struct Expected {
    std::string model;
    std::size_t ops;
    std::int64_t depth;
  };
  for (const Expected& expected : {Expected{"fork:1x3", 3, 3}, Expected{"fork:2x1", 3, 2},
                                   Expected{"fork:5x3", 19, 6}, Expected{"fork:8x10", 87, 13}}) {
    const Graph graph = make_model(expected.model).step(2);
    EXPECT_EQ(graph.ops().size(), expected.ops) << expected.model;
    EXPECT_EQ(longest_way(graph), expected.depth) << expected.model;
    EXPECT_EQ(graph.type(*graph.find("out")), (TensorType{{2, 256}, DType::f32}));
  }
}

// Equal first ops would be one after common sub-expressions are gone, and with them the chains.
TEST(Fork, ChainsDifferInTheirFirstOp) {
  const Graph graph = make_model("fork:4096x1:1").step(1);
  const ValueId x = *graph.find("x");
  std::set<float> factors;
  for (const Op& op : graph.ops()) {
    if (op.inputs[0] == x) {
      factors.insert(static_cast<float>(std::get<ScaleAttrs>(op.attrs).factor));
    }
  }
  EXPECT_EQ(factors.size(), 4096U);
  EXPECT_GE(*factors.begin(), 0.5F);
  EXPECT_LT(*factors.rbegin(), 1.0F);
}

// ---- How things start.

class EveryModel : public testing::TestWithParam<std::tuple<std::string, OptimizerSpec::Kind>> {
 protected:
  const Model model_ = make_model(std::get<0>(GetParam()), {.kind = std::get<1>(GetParam())});
};

TEST_P(EveryModel, StartsEveryParameterAndStateOnce) {
  std::set<std::string> started;
  for (const Initial& initial : model_.initial) EXPECT_TRUE(started.insert(initial.name).second);
  std::set<std::string> declared;
  const Graph step = model_.step(3);
  for (const Value& value : step.values()) {
    if (value.role == Role::parameter || value.role == Role::state) declared.insert(value.name);
  }
  EXPECT_EQ(started, declared);
}

TEST_P(EveryModel, EvaluatesWithTheParametersOfItsStep) {
  if (!model_.evaluation) return;
  const Graph step = model_.step(3);
  const Graph evaluation = model_.evaluation(5);
  int parameters = 0;
  for (const Value& value : evaluation.values()) {
    if (value.role != Role::parameter) continue;
    ++parameters;
    ASSERT_TRUE(step.find(value.name)) << value.name;
    EXPECT_EQ(step.type(*step.find(value.name)), value.type);
  }
  EXPECT_GT(parameters, 0);
}

INSTANTIATE_TEST_SUITE_P(
    Models, EveryModel,
    testing::Combine(testing::Values("mlp:4-3-2", "mlp_tanh:4-3-2", "mlp:6-5-4-3", "small_cnn",
                                     "lenet", "chain:5", "fork:2x3"),
                     testing::Values(OptimizerSpec::Kind::sgd, OptimizerSpec::Kind::momentum,
                                     OptimizerSpec::Kind::adam)));

template <class T>
std::vector<T> values_of(const Initial& initial, const TensorType& type, std::uint64_t seed,
                         std::uint64_t stream) {
  const std::vector<std::byte> bytes = initial_bytes(initial, type, seed, stream);
  EXPECT_EQ(bytes.size(), type.bytes());
  std::vector<T> values(bytes.size() / sizeof(T));
  std::memcpy(values.data(), bytes.data(), bytes.size());
  return values;
}

const Initial& initial_of(const Model& model, std::string_view name) {
  for (const Initial& each : model.initial) {
    if (each.name == name) return each;
  }
  throw std::out_of_range("no such initial value");
}

TEST(InitialValues, HeDeviation) {
  const Model model = make_model("mlp");
  for (const auto& [name, type, fan_in] :
       {std::tuple{"w1", TensorType{{784, 128}, DType::f32}, 784.0},
        std::tuple{"w2", TensorType{{128, 10}, DType::f32}, 128.0}}) {
    const std::vector<float> values = values_of<float>(initial_of(model, name), type, 1, 0);
    double sum = 0.0, squares = 0.0;
    for (const float value : values) {
      sum += value;
      squares += static_cast<double>(value) * value;
    }
    const auto count = static_cast<double>(values.size());
    const double deviation = std::sqrt(2.0 / fan_in);
    // Five deviations of the estimates: s / sqrt(n) of the mean, s / sqrt(2 n) of the deviation.
    EXPECT_NEAR(sum / count, 0.0, 5 * deviation / std::sqrt(count)) << name;
    EXPECT_NEAR(std::sqrt(squares / count), deviation, 5 * deviation / std::sqrt(2 * count))
        << name;
  }
}

TEST(InitialValues, FanInOfAConvolutionCountsItsWindow) {
  EXPECT_EQ(initial_of(make_model("small_cnn"), "w1").fan_in, 9);
  EXPECT_EQ(initial_of(make_model("small_cnn"), "w2").fan_in, 72);
  EXPECT_EQ(initial_of(make_model("small_cnn"), "w3").fan_in, 576);
  EXPECT_EQ(initial_of(make_model("lenet"), "w1").fan_in, 25);
  EXPECT_EQ(initial_of(make_model("lenet"), "w2").fan_in, 150);
  EXPECT_EQ(initial_of(make_model("lenet"), "w5").fan_in, 84);
}

// The draws are documented, so that another program can make the same start.
TEST(InitialValues, AreTheDrawsOfTheirStream) {
  const Initial initial{.name = "w", .kind = Initial::Kind::he_normal, .fan_in = 8};
  Philox draws(42, 3);
  for (const double value : values_of<double>(initial, {{10}, DType::f64}, 42, 3)) {
    EXPECT_EQ(value, 0.5 * draws.normal()) << "sqrt(2 / 8) is a half";
  }
}

TEST(InitialValues, DifferBySeedAndStreamAlone) {
  const Initial initial{.name = "w", .kind = Initial::Kind::he_normal, .fan_in = 4};
  const TensorType type{{3, 5}, DType::f32};
  EXPECT_EQ(initial_bytes(initial, type, 1, 2), initial_bytes(initial, type, 1, 2));
  EXPECT_NE(initial_bytes(initial, type, 1, 2), initial_bytes(initial, type, 2, 2));
  EXPECT_NE(initial_bytes(initial, type, 1, 2), initial_bytes(initial, type, 1, 3));
}

TEST(InitialValues, BiasesStatesAndControlBlock) {
  const Model model = make_model("mlp:4-3-2", {.kind = OptimizerSpec::Kind::adam, .rate = 0.25});
  using Floats = std::vector<float>;
  EXPECT_EQ(values_of<float>(initial_of(model, "b1"), {{3}, DType::f32}, 1, 0), (Floats{0, 0, 0}));
  EXPECT_EQ(values_of<float>(initial_of(model, "b1.v"), {{3}, DType::f32}, 1, 0),
            (Floats{0, 0, 0}));
  EXPECT_EQ(values_of<float>(initial_of(model, "control.lr"), {{}, DType::f32}, 1, 0),
            Floats{0.25});
  EXPECT_EQ(values_of<std::int32_t>(initial_of(model, "control.step"), {{}, DType::i32}, 1, 0),
            std::vector<std::int32_t>{0});
  EXPECT_EQ(error_of([&] {
              (void)initial_bytes(initial_of(model, "b1"), {{3}, DType::bf16}, 1, 0);
            }),
            "unsupported: initial value: parameters and states are f32, f64 or i32, not bf16");
}

TEST(InitialValues, UniformAndGiven) {
  const Initial drawn{.name = "w", .kind = Initial::Kind::uniform, .low = -0.5, .high = 1.5};
  Philox draws(42, 3);
  for (const double value : values_of<double>(drawn, {{10}, DType::f64}, 42, 3)) {
    EXPECT_EQ(value, -0.5 + 2.0 * draws.uniform());
  }
  const Initial given{.name = "w",
                      .kind = Initial::Kind::values,
                      .values = std::make_shared<const std::vector<double>>(3, 0.25)};
  EXPECT_EQ(values_of<float>(given, {{3}, DType::f32}, 1, 0), std::vector<float>(3, 0.25F));
  EXPECT_EQ(error_of([&] {
              (void)initial_bytes(given, {{2, 2}, DType::f32}, 1, 0);
            }),
            "bad input: initial value of 'w': 3 values for 4 elements");
  const Initial unread{.name = "w", .kind = Initial::Kind::file, .file = "w.npz", .tensor = "w"};
  EXPECT_EQ(error_of([&] {
              (void)initial_bytes(unread, {{2}, DType::f32}, 1, 0);
            }),
            "bad input: initial value of 'w': the file 'w.npz' was not read yet");
  const Initial nothing{.name = "w", .kind = Initial::Kind::values};
  EXPECT_EQ(error_of([&] {
              (void)initial_bytes(nothing, {{2}, DType::f32}, 1, 0);
            }),
            "bad input: initial value of 'w': no values were given");
}

}  // namespace
}  // namespace stepscope
