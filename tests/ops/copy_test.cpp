// Copies of graphs: op by op, in another order, in another precision.
// SPDX-License-Identifier: Apache-2.0
#include "ops/ir/copy.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <map>
#include <string>
#include <vector>

#include "ops/ir/build.h"
#include "ops/ir/print.h"
#include "ops/ir/verify.h"
#include "ops/models/model.h"
#include "tests/support/errors.h"
#include "tests/support/random_step.h"

namespace stepscope {
namespace {

using test::error_of;

Graph copied(const Graph& graph) {
  Graph result;
  GraphCopy copy(graph, result);
  for (std::size_t i = 0; i < graph.ops().size(); ++i) copy.copy(i);
  copy.finish();
  return result;
}

// The text with its %numbers counted anew: a copy declares first, and makes views on first use.
std::string renumbered(const std::string& text) {
  std::map<std::string, std::size_t> numbers;
  std::string result;
  for (std::size_t i = 0; i < text.size();) {
    std::size_t end = i + 1;
    if (text[i] == '%') {
      end = std::min(text.find_first_not_of("0123456789", end), text.size());
      const auto at = numbers.try_emplace(text.substr(i, end - i), numbers.size()).first;
      result += fmt::format("%{}", at->second);
    } else if (text[i] != ' ') {  // columns shift with the numbers
      result += text[i];
    }
    i = end;
  }
  return result;
}

// Kept views come last in a copy.
std::vector<std::string> sorted_lines(const std::string& text) {
  std::vector<std::string> lines;
  for (std::size_t at = 0; at < text.size();) {
    const std::size_t end = text.find('\n', at);
    lines.push_back(text.substr(at, end - at));
    at = end + 1;
  }
  std::sort(lines.begin(), lines.end());
  return lines;
}

TEST(GraphCopies, SayTheSame) {
  for (const char* optimizer : {"sgd", "momentum", "adam"}) {
    const Model model = make_model("mlp:4-3-2", {.kind = optimizer_kind(optimizer)});
    for (const Graph& graph : {model.step(2), model.evaluation(2)}) {
      EXPECT_EQ(renumbered(to_text(copied(graph))), renumbered(to_text(graph)));
    }
  }
  for (std::uint64_t seed = 0; seed < 50; ++seed) {
    const Graph graph = *test::random_step(seed).graph;
    const Graph copy = copied(graph);
    verify(copy, "copy");
    EXPECT_EQ(sorted_lines(renumbered(to_text(copy))), sorted_lines(renumbered(to_text(graph))))
        << "seed " << seed;
  }
}

class GraphCopyTest : public testing::Test {
 protected:
  const TensorType type_{{2, 3}, DType::f32};
  Graph from_;
  ValueId x_ = from_.declare(Role::input, type_, "x");
  ValueId w_ = from_.declare(Role::parameter, type_, "w");
  Graph to_;
};

TEST_F(GraphCopyTest, DeclaresWhatIsDeclared) {
  from_.keep(w_);
  GraphCopy copy(from_, to_);
  EXPECT_EQ(to_text(to_), "stepscope-ir 1\ninput x : f32{2, 3}\nparameter w : f32{2, 3}\nkeep w\n");
  EXPECT_TRUE(copy.has(x_));
}

TEST_F(GraphCopyTest, AMappedValueStandsForAnother) {
  const ValueId y = build::relu(from_, x_);
  const ValueId z = build::scale(from_, y, 2.0);
  from_.keep(z, "z");
  const ValueId out = build::tanh(from_, z);
  from_.keep(out, "out");
  GraphCopy copy(from_, to_);
  copy.copy(0);
  copy.map(z, build::add(to_, copy(y), copy(y)));
  copy.copy(2);
  EXPECT_EQ(to_text(to_),
            "stepscope-ir 1\n"
            "input x : f32{2, 3}\n"
            "parameter w : f32{2, 3}\n"
            "%0 : f32{2, 3} = Relu(x)"
            "                                                             @ forward\n"
            "z : f32{2, 3} = Add(%0, %0)"
            "                                                          @ forward\n"
            "out : f32{2, 3} = Tanh(z)"
            "                                                            @ forward\n"
            "keep z\n"
            "keep out\n");
}

// Of two values that become one: a kept name goes before one for people, of those the first stays.
TEST_F(GraphCopyTest, NamesForPeopleAreCarriedWhereTheyAreFree) {
  const ValueId y = build::relu(from_, x_);
  const ValueId z = build::relu(from_, x_);
  const ValueId out = build::relu(from_, x_);
  from_.rename(y, "y");
  from_.rename(z, "z");
  from_.keep(out, "out");
  {
    GraphCopy copy(from_, to_);
    copy.copy(0);
    copy.map(z, copy(y));
    EXPECT_EQ(to_.label(copy(y)), "y");
    copy.map(out, copy(y));
    EXPECT_EQ(to_.label(copy(y)), "out");
    EXPECT_EQ(to_.find("y"), std::nullopt);
  }
  Graph declared;
  GraphCopy copy(from_, declared);
  copy.map(y, copy(x_));
  EXPECT_EQ(declared.label(copy(x_)), "x");
}

TEST_F(GraphCopyTest, ViewsAreMadeWhenTheyAreUsed) {
  const ValueId unused = from_.reshape(x_, {6});
  const ValueId used = from_.reshape(x_, {3, 2});
  const ValueId kept = from_.reshape(from_.reshape(x_, {6}), {1, 6});
  from_.keep(kept, "kept");
  (void)build::relu(from_, used);
  GraphCopy copy(from_, to_);
  copy.copy(0);
  EXPECT_TRUE(copy.has(used));
  EXPECT_FALSE(copy.has(unused));
  EXPECT_FALSE(copy.has(kept));
  copy.finish();
  EXPECT_FALSE(copy.has(unused));
  ASSERT_TRUE(copy.has(kept));
  EXPECT_EQ(to_.find("kept"), copy(kept));
  EXPECT_EQ(to_.type(copy(kept)).shape, (Shape{1, 6}));
  EXPECT_EQ(to_.storage(copy(kept)), copy(x_));
  EXPECT_EQ(copy(used), copy(used)) << "once";
}

TEST_F(GraphCopyTest, PhasesComeAlongAndTheTargetStaysInItsOwn) {
  from_.enter(PhaseSet(Phase::backward) | Phase::update);
  (void)build::relu(from_, x_);
  to_.enter(Phase::loss);
  GraphCopy copy(from_, to_);
  copy.copy(0);
  EXPECT_EQ(to_string(to_.ops()[0].phases), "backward+update");
  EXPECT_EQ(to_.phases(), PhaseSet(Phase::loss));
}

TEST_F(GraphCopyTest, SaysWhatWasNotCopied) {
  (void)build::tanh(from_, build::relu(from_, x_));
  GraphCopy copy(from_, to_);
  EXPECT_EQ(error_of([&] { copy.copy(1); }), "bad graph: copy: %0 is used before it was copied");
}

TEST_F(GraphCopyTest, ReorderedKeepsWhatAnOrderMayNotChange) {
  const ValueId a = build::relu(from_, x_);
  const ValueId b = build::tanh(from_, x_);
  from_.keep(build::add(from_, a, b), "sum");
  const Graph graph = reordered(from_, std::array<std::size_t, 3>{1, 0, 2});
  EXPECT_EQ(graph.ops()[0].kind, OpKind::Tanh);
  EXPECT_EQ(graph.ops()[2].inputs, (std::vector<ValueId>{{3}, {2}}));
  EXPECT_EQ(graph.find("sum"), graph.ops()[2].outputs[0]);

  EXPECT_EQ(error_of([&] { (void)reordered(from_, std::array<std::size_t, 1>{0}); }),
            "bad graph: reordered: 3 ops, 1 in the order");
  EXPECT_EQ(error_of([&] {
              (void)reordered(from_, std::array<std::size_t, 3>{0, 2, 1});
            }),
            "bad graph: copy: %1 is used before it was copied");
}

TEST_F(GraphCopyTest, ReorderedRefusesAnUpdateAheadOfAReader) {
  const ValueId rate = from_.declare(Role::state, {Shape{}, DType::f32}, "rate");
  (void)build::relu(from_, w_);
  from_.apply(OpKind::SgdUpdate, {w_, x_, rate}, SgdAttrs{});
  EXPECT_EQ(error_of([&] {
              (void)reordered(from_, std::array<std::size_t, 2>{1, 0});
            }),
            "bad graph: reordered: op 1 (Relu) reads w after op 0 overwrote its storage w");
}

TEST(WithDType, EveryF32AndNothingElse) {
  const Graph graph = make_model("mlp:4-3-2").step(2);
  const Graph wide = with_dtype(graph, DType::f64);
  std::string expected = renumbered(to_text(graph));
  std::size_t replaced = 0;
  for (std::size_t at = expected.find("f32"); at != std::string::npos;
       at = expected.find("f32", at)) {
    expected.replace(at, 3, "f64");
    ++replaced;
  }
  EXPECT_EQ(renumbered(to_text(wide)), expected);
  EXPECT_GE(replaced, 20U);
  EXPECT_EQ(wide.type(*wide.find("labels")).dtype, DType::i32);
  EXPECT_EQ(wide.type(*wide.find("control.step")).dtype, DType::i32);
  EXPECT_EQ(renumbered(to_text(with_dtype(graph, DType::f32))), renumbered(to_text(graph)));
}

}  // namespace
}  // namespace stepscope
