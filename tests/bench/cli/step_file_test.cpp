// Step files where a model is asked for: printed, trained, compared, and refused in one line.
// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>

#include "ops/ir/parse.h"
#include "ops/ir/print.h"
#include "tests/bench/cli/run_command.h"
#include "tests/bench/temp_folder.h"

namespace stepscope {
namespace {

using test::CommandResult;
using test::run_stepscope;

std::string example(const std::string& name) {
  return fmt::format("{}/{}.step", STEPSCOPE_EXAMPLES_DIR, name);
}

std::string again(const std::string& text) {
  return to_text(instantiate(parse_step(text, "printed"), 1));
}

TEST(StepFileCommand, ExplainPrintsTheStepThatRuns) {
  for (const std::string format : {"ir", "dot"}) {
    const CommandResult result =
        run_stepscope({"explain", "--model", example("small_cnn"), "--format", format});
    EXPECT_EQ(result.status, 0) << result.err;
    EXPECT_TRUE(format == "dot" || again(result.out) == result.out) << result.out;
  }
}

// Each graph begins with the first line of a step file and ends at an empty line.
TEST(StepFileCommand, ExplainPrintsGraphsThatCanBeReadBack) {
  const CommandResult result = run_stepscope({"explain", "--model", example("two_heads")});
  EXPECT_EQ(result.status, 0) << result.err;
  int graphs = 0;
  for (std::size_t at = 0; (at = result.out.find("stepscope-ir 1\n", at)) != std::string::npos;) {
    const std::size_t end = result.out.find("\n\n", at) + 1;
    const std::string text = result.out.substr(at, end - at);
    EXPECT_EQ(again(text), text);
    at = end;
    ++graphs;
  }
  EXPECT_GE(graphs, 3);
}

TEST(StepFileCommand, TrainsWithLabelsAndWithout) {
  for (const std::string name : {"softmax_regression", "autoencoder"}) {
    const CommandResult result =
        run_stepscope({"train", "--model", example(name), "--backend", "reference", "--data",
                       "generated", "--epochs", "1", "--steps", "2", "--batch", "4"});
    EXPECT_EQ(result.status, 0) << name << ": " << result.err;
    EXPECT_NE(result.out.find(name), std::string::npos) << result.out;
  }
}

void expect_refused(const std::string& model, const std::string& message) {
  for (const std::string command : {"train", "compare", "explain"}) {
    const CommandResult result = run_stepscope({command, "--model", model});
    EXPECT_EQ(result.status, 2) << result.err;
    EXPECT_EQ(result.out, "");
    EXPECT_EQ(result.err, fmt::format("stepscope: {}\n", message));
  }
}

TEST(StepFileCommand, WhatIsNoFileIsRefused) {
  expect_refused("nowhere.step",
                 "--model 'nowhere.step': cannot be read: No such file or directory");
  expect_refused("/dev/null", "/dev/null:1:1: expected 'stepscope-ir 1' as the first line");
  expect_refused("/dev/zero", "/dev/zero:1:1: 16777217 bytes, at most 16777216 are allowed");
  const test::TempFolder folder;
  const std::string path = folder.path().string();
  expect_refused(path, fmt::format("--model '{}': cannot be read: it is a folder", path));
}

TEST(StepFileCommand, MistakesInTheFileAreNamed) {
  const test::TempFolder folder;
  const std::string path = (folder.path() / "net.step").string();
  folder.write("net.step", std::string_view("stepscope-ir 1\ninput x : f32{B, 4}\ny = Rleu(x)\n"));
  const CommandResult result = run_stepscope({"train", "--model", path});
  EXPECT_EQ(result.status, 2);
  EXPECT_TRUE(result.err.starts_with(
      fmt::format("stepscope: {}:3:5: unknown op 'Rleu': did you mean 'Relu'?", path)))
      << result.err;
  EXPECT_EQ(std::count(result.err.begin(), result.err.end(), '\n'), 1);
}

// It serves 1 and 2 rows, which every file is tried at, but not 5.
TEST(StepFileCommand, AFileThatFailsAtAGivenBatchIsRefused) {
  const test::TempFolder folder;
  const std::string path = (folder.path() / "net.step").string();
  folder.write("net.step", std::string_view("stepscope-ir 1\n"
                                            "input x : f32{B, 12}\n"
                                            "parameter w : f32{12, 3} = he\n"
                                            "turned = Relu(x{B, 12/B, B})\n"
                                            "y = MatMul(turned{B, 12}, w)\n"
                                            "rows = ReduceSum(y)\n"
                                            "loss = ReduceSum(rows)\n"));
  for (const std::string command : {"train", "compare", "explain"}) {
    const CommandResult result = run_stepscope({command, "--model", path, "--batch", "5"});
    EXPECT_EQ(result.status, 2) << result.err;
    EXPECT_EQ(result.out, "");
    EXPECT_TRUE(result.err.starts_with(fmt::format("stepscope: {}:4:20: 12/B is ", path)))
        << result.err;
    EXPECT_EQ(std::count(result.err.begin(), result.err.end(), '\n'), 1);
  }
}

}  // namespace
}  // namespace stepscope
