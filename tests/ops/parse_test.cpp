// Step files: what they say, how they are printed, and the message of every mistake.
// SPDX-License-Identifier: Apache-2.0
#include "ops/ir/parse.h"

#include <gtest/gtest.h>

#include "ops/ir/op_def.h"
#include "ops/ir/print.h"
#include "tests/support/errors.h"

namespace stepscope {
namespace {

using test::error_of;

std::string with_header(std::string_view text) { return fmt::format("stepscope-ir 1\n{}", text); }

TEST(ParseStep, CanonicalText) {
  const std::string text = with_header(R"(
# comment
input   x:f32{B,4}
keep = Relu( x{B, 2*2} )@ loss+forward # values may have the names of statements
parameter w : f32{ 4,3 }=he(4)
parameter v : f32{3} = uniform(-1/4, 0.5)
y=MatMul(keep , w){transpose_b=false,transpose_a=false}
z : f32{B, 3} = Scale(y) {factor = 1/B/784}
flat = z{B*3}
%7 = Broadcast(v) {size = B}
keep z
keep %7{3*B}
)");
  const std::string canonical = to_text(parse_step(text, "a.step"));
  const auto line = [](std::string_view statement, std::string_view phases) {
    return fmt::format("{:<84} @ {}\n", statement, phases);
  };
  EXPECT_EQ(canonical,
            "stepscope-ir 1\n"
            "input x : f32{B, 4}\n"
            "parameter w : f32{4, 3} = he\n"
            "parameter v : f32{3} = uniform(-0.25, 0.5)\n" +
                line("keep = Relu(x{B, 2*2})", "forward+loss") +
                line("y = MatMul(keep, w) {transpose_a = false, transpose_b = false}", "forward") +
                line("z : f32{B, 3} = Scale(y) {factor = 1/B/784}", "forward") + "flat = z{B*3}\n" +
                line("%7 = Broadcast(v) {axis = 0, size = B}", "forward") +
                "keep z\nkeep %7{3*B}\n");
  EXPECT_EQ(to_text(parse_step(canonical, "a.step")), canonical);
  const Graph graph = instantiate(parse_step(canonical, "a.step"), 2);
  EXPECT_EQ(graph.type(*graph.find("flat")), (TensorType{{6}, DType::f32}));
  EXPECT_EQ(std::get<ScaleAttrs>(graph.ops()[2].attrs).factor, 1.0 / 2 / 784);
  EXPECT_EQ(to_text(instantiate(parse_step(to_text(graph), "a.step"), 1)), to_text(graph));
}

TEST(ParseStep, LinesMayEndAsOnOtherSystems) {
  const std::string text = with_header("input x : f32{B, 4}\ny = Relu(x)  # c\nkeep y");
  std::string returns;
  for (const char c : text) {
    if (c == '\n') returns += '\r';
    returns += c;
  }
  EXPECT_EQ(to_text(parse_step(returns, "a.step")), to_text(parse_step(text, "a.step")));
}

TEST(ParseStep, Starts) {
  const std::string text = with_header(
      "parameter a : f32{4, 1, 3, 5} = he\nparameter b : f32{3} = constant(0.5)\n"
      "parameter c : f32{3} = file(\"a \\\"b\\\".npz\", \"fc\\\\1\")\n");
  const StepFile file = parse_step(text, "a.step");
  EXPECT_EQ(file.declarations[0].initial->fan_in, 15);
  EXPECT_EQ(file.declarations[1].initial->value, 0.5);
  EXPECT_EQ(file.declarations[2].initial->file, "a \"b\".npz");
  EXPECT_EQ(file.declarations[2].initial->tensor, "fc\\1");
  EXPECT_EQ(to_text(file), text);
}

TEST(ParseStep, OpsAddedFromOutsideCanBeWritten) {
  static const OpKind kind =
      add_op({.name = "TestParsed",
              .infer =
                  [](std::span<const TensorType> in, const Attrs& attrs, TypeList& out) {
                    out.push_back({in[0].shape, std::get<CastAttrs>(attrs).to});
                  },
              .work = [](std::span<const TensorType>, std::span<const TensorType>,
                         const Attrs&) { return Work{}; },
              .attrs = CastAttrs{DType::f16}});
  const std::string text =
      with_header("input x : f32{B}\ny = TestParsed(x)\nz = TestParsed(x) {to = u8}\n");
  const Graph graph = instantiate(parse_step(text, "a.step"), 2);
  EXPECT_EQ(graph.ops()[0].kind, kind);
  EXPECT_EQ(graph.type(*graph.find("y")).dtype, DType::f16);
  EXPECT_EQ(graph.type(*graph.find("z")).dtype, DType::u8);
}

// ---- Mistakes.

struct Mistake {
  std::string_view lines;  // behind the header
  std::string_view message;
};

class Mistakes : public testing::TestWithParam<Mistake> {};

TEST_P(Mistakes, AreNamedWithTheirPlace) {
  const std::string error =
      error_of([&] { (void)instantiate(parse_step(with_header(GetParam().lines), "m.step"), 3); });
  // The list of ops is long, and grows.
  EXPECT_EQ(error.substr(0, error.find("(there are: MatMul")),
            fmt::format("bad input: m.step:{}", GetParam().message));
}

const Mistake kMistakes[] = {
    {"input x : f32", "2:14: the end of the line, expected '{' before the dimensions"},
    {"input x : g32{B}",
     "2:11: unknown element type 'g32': did you mean 'f32'? (there are: f64, f32, bf16, f16, i32, "
     "u8)"},
    {"input x f32{B}", "2:9: 'f32', expected ':' and a type"},
    {"input x : f32{B, 0}", "2:18: a dimension of 0, expected 1 or more"},
    {"input x : f32{B/2}", "2:15: B/2 is not whole at B = 3, expected a whole number"},
    {"input x : f32{1.5}", "2:15: 1.5 is not whole, expected a whole number"},
    {"input x : f32{4/0}", "2:15: 4/0 divides by zero"},
    {"input x : f32{x}", "2:15: 'x', expected a number or B"},
    {"input x : f32{1, 1, 1, 1, 1, 1, 1}", "2:33: more than 6 dimensions"},
    {"input x : f32{9999999999, 9999999999}",
     "2:7: x: f32{9999999999, 9999999999} has more than "
     "2^47 bytes"},
    {"input x : f32{4611686018427387904*4}",
     "2:15: 4611686018427387904*4 does not fit 64 bits on the way"},
    {"input x : f32{200000000000000}",
     "2:15: 200000000000000 is 200000000000000, expected at most 140737488355328 in size"},
    {"input %1 : f32{B}", "2:7: '%1' numbers a value that an op makes, expected a name"},
    {"input x : f32{B} = zeros", "2:18: '=', expected nothing: only parameters have a start"},
    {"input x : f32{B}\ninput x : f32{B}", "3:7: there is a value 'x' already"},
    {"parameter w : f32{B, 4}", "2:19: B, the batch, may not stand here"},
    {"parameter w : f32{4} = he",
     "2:24: he: a shape of 1 dimensions tells no fan-in, expected he(FAN_IN)"},
    {"parameter w : f32{4} = he(0)", "2:27: a fan-in of 0, expected 1 or more"},
    {"parameter w : f32{4} = zero",
     "2:24: unknown start 'zero': did you mean 'zeros'? (there are: zeros, constant, he, uniform, "
     "file)"},
    {"parameter w : f32{4} = uniform(1, 0)", "2:24: uniform(1, 0), expected the lower end first"},
    {"parameter w : f32{4} = constant(inf)", "2:33: inf, expected a finite number"},
    {"parameter w : f32{4} = constant(-1e300)",
     "2:33: -1e+300, expected a number that f32 holds, 3.4028234663852886e+38 at most in size"},
    {"parameter w : f32{4} = uniform(-1e300, 1)",
     "2:32: -1e+300, expected a number that f32 holds, 3.4028234663852886e+38 at most in size"},
    {"parameter w : f32{4} = uniform(0, 4e38)",
     "2:35: 4e+38, expected a number that f32 holds, 3.4028234663852886e+38 at most in size"},
    {"parameter w : f32{4} = he(-1)", "2:27: a fan-in of -1, expected 1 or more"},
    {"parameter w : f32{4} = he(1/2)", "2:27: 1/2 is not whole, expected a whole number"},
    {"parameter w : f32{4} = file(\"a)", "2:29: a string that does not end on its line"},
    {"parameter w : f32{4} = file(\"a\\n\", \"b\")",
     "2:29: a string holds \\ before another character than \" and \\"},
    {"parameter w : f32{4} = file(a, b)", "2:29: 'a', expected the file, as a string"},
    {"input x : f32{B}\ny = Rely(x)", "3:5: unknown op 'Rely': did you mean 'Relu'? "},
    {"input x : f32{B}\ny = Relu(z)",
     "3:10: there is no value 'z' before this line: did you mean "
     "'x'?"},
    {"input x : f32{B}\ny = Relu(Tanh(x))",
     "3:10: a call of Tanh inside a statement, expected a line of its own"},
    {"input x : f32{B}\ny = Relu(x",
     "3:11: the end of the line, expected ',' or ')' behind an "
     "input"},
    {"input x : f32{B}\ny = Relu(x, x)", "3:5: Relu: takes 1 inputs, got 2"},
    {"input x : f32{B, 2}\nparameter w : f32{3, 2}\ny = MatMul(x, w)",
     "4:5: MatMul: inner sizes differ, 2 and 3"},
    {"input x : f32{B}\na, b = Relu(x)", "3:8: Relu makes 1 values, 2 are named"},
    {"input x : f32{B, 1, 4, 4}\ny = MaxPool(x)", "3:5: MaxPool makes 2 values, 1 are named"},
    {"input x : f32{B}\ny : f32{4} = Relu(x)", "3:1: y is f32{3}, expected f32{4} as written"},
    {"input x : f32{B}\nparameter w : f32{3}\ny -> w = Relu(x)",
     "4:1: y overwrites nothing, expected w as written"},
    {"input x : f32{B}\ny = Scale(x) {fator = 2}",
     "3:15: unknown setting of Scale 'fator': did you mean 'factor'? (there are: factor)"},
    {"input x : f32{B}\ny = Relu(x) {factor = 2}",
     "3:14: unknown setting of Relu 'factor' (there are none)"},
    {"input x : f32{B}\ny = Scale(x) {factor = true}",
     "3:24: Scale: 'factor' is true, expected a number"},
    {"input x : f32{B}\ny = Scale(x) {factor = 1, factor = 2}",
     "3:27: Scale: 'factor' is given once too often"},
    {"input x : f32{B}\ny = Scale(x) {factor = }",
     "3:24: '}', expected a number, a word or a type"},
    {"input x : f32{B}\ny = Scale(x) {factor 2}",
     "3:22: '2', expected '=' behind the name of a "
     "setting"},
    {"input x : f32{B}\ny = Scale(x) {factor = 1e999}",
     "3:24: '1e999' is out of the range of a double"},
    {"input x : f32{B}\ny = Scale(x) {factor = 12ab}", "3:24: '12ab' is no number"},
    {"input x : f32{B, 2}\ny = ReduceSum(x) {axis = 0.5}",
     "3:26: 0.5 is not whole, expected a whole number"},
    {"input x : f32{B, 2}\ny = ReduceSum(x) {axis = 2}",
     "3:5: ReduceSum: axis 2 is not in {3, 2} of rank 2"},
    {"input x : f32{B, 2}\ny = MatMul(x, x) {transpose_a = yes}",
     "3:33: MatMul: 'transpose_a' is yes, expected true or false"},
    {"input x : f32{B, 2}\ny = Cast(x) {to = f31}",
     "3:19: unknown element type 'f31': did you mean 'f32'? (there are: f64, f32, bf16, f16, i32, "
     "u8)"},
    {"y = Fill() {type = f32, value = 1}",
     "2:20: Fill: 'type' is f32, expected a type, as in "
     "f32{2, 3}"},
    {"input x : f32{B}\ny = PointwiseChain(x) {count = 1, step = Scale}",
     "3:42: PointwiseChain: 'step' is Scale, expected a factor for Scale, and for no other op"},
    {"input x : f32{B}\ny = PointwiseChain(x) {count = 1, step = Relu, step = Relu}",
     "3:48: PointwiseChain: 'step' is given once too often"},
    {"input x : f32{B}\ny = PointwiseChain(x) {count = 99, step = Relu}",
     "3:5: PointwiseChain: 99 steps, there may be 1 to 12"},
    {"input x : f32{B}\ny = Relu(x) @ foward",
     "3:15: unknown phase 'foward': did you mean 'forward'? (there are: input_copy, forward, loss, "
     "backward, update, readback)"},
    {"input x : f32{B}\ny = x",
     "3:6: the end of the line, expected '(' of an op or '{' of a view "
     "behind 'x'"},
    {"input x : f32{B}\ny = x{4}", "3:5: Reshape: {3} has 3 elements, {4} has 4"},
    {"input x : f32{B}\ny = 4", "3:5: '4', expected an op, as in Relu(x), or a view, as in x{B}"},
    {"input x : f32{B}\ny, z = x{B}", "3:8: a view is one value and overwrites none"},
    {"input x : f32{B}\nkeep y", "3:6: there is no value 'y' before this line: did you mean 'x'?"},
    {"input x : f32{B}\nx = Relu(x)", "3:1: there is a value 'x' already"},
    {"input x : f32{B} y", "2:18: 'y', expected the end of the line"},
    {"= x", "2:1: '=', expected input, parameter, state, keep or the name of a value"},
    {"input ü : f32{B}", "2:7: byte 0xC3, expected a name, a number or one of : , = ( ) { } @"},
    {"% = x", "2:1: '%' alone, expected a number behind it"},
    {"input x : f32{-}", "2:15: '-' alone, expected a number behind it"},
    {"input x : f32{B}\ry", "2:17: byte 0x0D, expected a name, a number or one of : , = ( ) { } @"},
};

INSTANTIATE_TEST_SUITE_P(All, Mistakes, testing::ValuesIn(kMistakes));

TEST(ParseStep, TheFirstLine) {
  for (const char* text : {"", "\n", "stepscope-ir 2\n", "stepscope-ir 1 \n", " stepscope-ir 1\n",
                           "stepscope-ir 12", "# c\nstepscope-ir 1\n"}) {
    EXPECT_EQ(error_of([&] { (void)parse_step(text, "m.step"); }),
              "bad input: m.step:1:1: expected 'stepscope-ir 1' as the first line")
        << text;
  }
  EXPECT_EQ(to_text(parse_step("stepscope-ir 1", "m.step")), "stepscope-ir 1\n");
}

TEST(ParseStep, BatchesOutOfRange) {
  const StepFile file = parse_step(with_header("input x : f32{B}"), "m.step");
  EXPECT_EQ(error_of([&] { (void)instantiate(file, 0); }),
            "bad input: m.step: a batch of 0, expected 1 to 1048576");
  EXPECT_EQ(instantiate(file, kMostBatch).type({0}).shape[0], kMostBatch);
}

}  // namespace
}  // namespace stepscope
