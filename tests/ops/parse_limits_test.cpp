// Texts at the limits of step files, and broken ones: refused in one line, or read.
// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include "ops/base/philox.h"
#include "ops/ir/lexer.h"
#include "ops/ir/op_def.h"
#include "ops/ir/parse.h"
#include "ops/ir/print.h"
#include "ops/models/model.h"
#include "tests/support/errors.h"

namespace stepscope {
namespace {

using test::error_of;

std::string with_header(std::string_view text) { return fmt::format("stepscope-ir 1\n{}", text); }

std::string error_of_text(const std::string& text) {
  return error_of([&] { (void)instantiate(parse_step(text, "m"), 1); });
}

std::string chain_of(std::size_t ops) {
  std::string text = with_header("input v0 : f32{B, 4}\n");
  for (std::size_t i = 0; i < ops; ++i) text += fmt::format("v{} = Relu(v{})\n", i + 1, i);
  return text;
}

std::string repeated(std::string_view item, std::size_t times) {
  std::string text;
  for (std::size_t i = 0; i < times; ++i) text += fmt::format("{}{}", i == 0 ? "" : ", ", item);
  return text;
}

TEST(StepLimits, Text) {
  const std::string text = with_header("#") + std::string(kMaxStepText, 'x');
  EXPECT_EQ(error_of_text(text), "bad input: m:1:1: 16777232 bytes, at most 16777216 are allowed");
  EXPECT_EQ(error_of_text(text.substr(0, kMaxStepText)), "no error");
}

TEST(StepLimits, Ops) {
  EXPECT_EQ(error_of_text(chain_of(kMaxStepOps)), "no error");
  EXPECT_EQ(error_of_text(chain_of(kMaxStepOps + 1)), "bad input: m:10003:10: more than 10000 ops");
}

TEST(StepLimits, Values) {
  std::string text = "stepscope-ir 1\n";
  for (std::size_t i = 0; i < kMaxStepValues; ++i) text += fmt::format("input x{} : f32{{B}}\n", i);
  EXPECT_EQ(error_of_text(text), "no error");
  EXPECT_EQ(error_of_text(text + "input y : f32{B}\n"),
            "bad input: m:20002:7: more than 20000 values");
  EXPECT_EQ(error_of_text(text + "z = Relu(y)\n"),
            "bad input: m:20002:10: there is no value 'y' before this line");
}

TEST(StepLimits, Views) {
  std::string text = with_header("input x : f32{B, 4}\n");
  for (std::size_t i = 0; i < kMaxStepValues; ++i) text += "keep x{B*4}\n";
  EXPECT_EQ(error_of_text(text), "no error");
  EXPECT_EQ(error_of_text(text + "y = Relu(x{B*4})\n"),
            "bad input: m:20003:10: more than 20000 views");
}

TEST(StepLimits, Names) {
  const std::string longest(kMaxNameLength, 'a');
  EXPECT_EQ(error_of_text(with_header(fmt::format("input {} : f32{{B}}", longest))), "no error");
  EXPECT_EQ(error_of_text(with_header(fmt::format("input {}a : f32{{B}}", longest))),
            "bad input: m:2:7: a name of 129 characters, at most 128 are allowed");
}

TEST(StepLimits, PartsOfAStatement) {
  const std::string x = "input x : f32{B}\n";
  EXPECT_EQ(error_of_text(with_header(x + "y = Scale(x) {factor = 1" +
                                      fmt::format("{}}}", std::string(32, '*')))),
            "bad input: m:3:26: '*', expected a number or B");
  std::string product = "1";
  for (std::size_t i = 0; i < kMaxFactors; ++i) product += "*1";
  EXPECT_EQ(error_of_text(with_header(x + "y = Scale(x) {factor = " + product + "}")),
            "bad input: m:3:55: more than 16 factors in one number");
  EXPECT_EQ(error_of_text(with_header(x + "y = Add(" + repeated("x", kMaxInputs + 1) + ")")),
            fmt::format("bad input: m:3:141: more than {} inputs", kMaxInputs));
  EXPECT_EQ(error_of_text(with_header(x + repeated("y", kMaxOutputs + 1) + " = Add(x)")),
            fmt::format("bad input: m:3:73: more than {} results", kMaxOutputs));
  EXPECT_EQ(error_of_text(
                with_header(x + "y = Scale(x) {" + repeated("factor = 1", kMaxSettings + 1) + "}")),
            "bad input: m:3:783: more than 64 settings");
  EXPECT_EQ(error_of_text(with_header(fmt::format("input x : f32{{{}}}", std::string(100, '1')))),
            "bad input: m:2:15: a number of 100 characters, at most 64 are allowed");
  EXPECT_EQ(error_of_text(with_header(fmt::format("parameter w : f32{{1}} = file(\"{}\", \"y\")",
                                                  std::string(5000, 'x')))),
            "bad input: m:2:29: a string of more than 4096 bytes");
}

// Shape rules add settings up; at the largest that a number may be nothing overflows.
TEST(StepLimits, LargestNumbersInEverySetting) {
  const std::string images = "input x : f32{B, 1, 4, 4}\nparameter w : f32{1, 1, 3, 3}\n";
  for (const std::int64_t size : {kLargestWhole, -kLargestWhole}) {
    for (const char* call :
         {"y = Conv2d(x, w) {{pad_h = {0}, stride_h = {0}}}", "y = Conv2d(x, w) {{pad_w = {0}}}",
          "y, s = MaxPool(x) {{pad_h = {0}, kernel_h = {0}}}",
          "y = AvgPool(x) {{kernel_h = {0}, pad_h = {0}, stride_h = {0}}}",
          "y = Conv2dInputGrad(x, w) {{height = {0}, width = {0}, pad_h = {0}}}",
          "y = Broadcast(x) {{axis = {0}, size = {0}}}", "y = Broadcast(x) {{size = {0}}}",
          "y = ReduceSum(x) {{axis = {0}}}", "y -> w = SgdUpdate(w, w, x) {{tensors = {0}}}",
          "y -> w = AdamUpdate(w, w, w, w, x, x) {{tensors = {0}}}",
          "y = PointwiseChain(x) {{count = {0}}}", "y = Scale(x) {{factor = {0}}}",
          "y = Fill() {{type = f32{{{0}}}}}", "y = Reorder(x) {{layout = {0}}}"}) {
      const std::string text = fmt::format(fmt::runtime(call), size);
      const std::string error = error_of_text(with_header(images + text));
      EXPECT_EQ(error.find('\n'), std::string::npos) << error;
    }
  }
}

// Nor do products of settings, that each fit alone.
TEST(StepLimits, LargestProductsOfSettings) {
  const std::string images = "input x : f32{B, 1, 4, 4}\nparameter w : f32{1, 1, 3, 3}\n";
  for (const std::int64_t size : {std::int64_t{46'341}, std::int64_t{65'536}, std::int64_t{1} << 31,
                                  std::int64_t{1} << 32, kLargestWhole}) {
    for (const char* window : {"kernel_h = {0}, kernel_w = {0}, pad_h = {1}, pad_w = {1}, "
                               "stride_h = {0}, stride_w = {0}",
                               "kernel_h = {0}, kernel_w = {0}, pad_h = {1}, pad_w = {1}"}) {
      for (const char* call : {"y, s = MaxPool(x) {{{}}}", "y = AvgPool(x) {{{}}}",
                               "y = AvgPoolGrad(x) {{{}, height = 4, width = 4}}"}) {
        const std::string settings = fmt::format(fmt::runtime(window), size, size - 1);
        const std::string text = fmt::format(fmt::runtime(call), settings);
        const std::string error = error_of_text(with_header(images + text));
        EXPECT_NE(error.find(size < (std::int64_t{1} << 31)
                                 ? fmt::format("a window of {0} x {0} has more than", size)
                                 : fmt::format("a window of {},", size)),
                  std::string::npos)
            << text << ": " << error;
      }
    }
  }
}

// One byte changed, dropped or doubled, a thousand times: an error in one line, or a graph that
// prints and reads as itself.
TEST(StepLimits, BrokenTexts) {
  const std::string good = to_text(make_model("small_cnn").step(2));
  Philox draws(1);
  for (int round = 0; round < 1000; ++round) {
    std::string text = good;
    for (std::uint64_t edits = draws.below(4) + 1; edits > 0; --edits) {
      const std::size_t at = draws.below(text.size());
      switch (draws.below(4)) {
        case 0:
          text[at] = static_cast<char>(draws.below(256));
          break;
        case 1:
          text.erase(at, 1);
          break;
        case 2:
          text.insert(at, 1, text[at]);
          break;
        default:
          text.insert(at, text.substr(draws.below(text.size()), draws.below(40)));
      }
    }
    std::string printed;
    const std::string error =
        error_of([&] { printed = to_text(instantiate(parse_step(text, "m"), 2)); });
    EXPECT_EQ(error.find('\n'), std::string::npos) << error;
    if (printed.empty()) continue;
    EXPECT_EQ(to_text(instantiate(parse_step(printed, "m"), 1)), printed);
  }
}

}  // namespace
}  // namespace stepscope
