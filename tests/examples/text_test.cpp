// The examples as text: read, printed, and instantiated at several batches.
// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <sstream>

#include "ops/ir/op_def.h"
#include "ops/ir/parse.h"
#include "ops/ir/print.h"
#include "ops/models/step_model.h"
#include "tests/examples/examples.h"

namespace stepscope::test {
namespace {

TEST(Examples, AreThoseOfTheFolder) {
  std::vector<std::string> names;
  for (const auto& entry : std::filesystem::directory_iterator(STEPSCOPE_EXAMPLES_DIR)) {
    if (entry.path().extension() == ".step") names.push_back(entry.path().stem().string());
  }
  std::sort(names.begin(), names.end());
  EXPECT_EQ(names, example_names());
}

class ExampleText : public testing::TestWithParam<std::string> {};

TEST_P(ExampleText, SaysWhatItIsAndWhereItComesFrom) {
  const std::string text = example_text(GetParam());
  EXPECT_TRUE(text.starts_with("stepscope-ir 1\n# ")) << text.substr(0, 40);
  EXPECT_NE(text.find("\n# Source: "), std::string::npos);
}

TEST_P(ExampleText, CanonicalTextIsItsOwnCanonicalText) {
  const std::string canonical = to_text(example_file(GetParam()));
  EXPECT_EQ(to_text(parse_step(canonical, "again")), canonical);
  for (const std::int64_t batch : {1, 3, 32}) {
    const std::string printed = to_text(instantiate(example_file(GetParam()), batch));
    EXPECT_EQ(to_text(instantiate(parse_step(canonical, "again"), batch)), printed);
    EXPECT_EQ(to_text(instantiate(parse_step(printed, "printed"), 1)), printed);
  }
}

// Whole training steps are graphs like any other.
TEST_P(ExampleText, DerivedStepsReadAsThemselves) {
  const Model model = example_model(GetParam(), {.kind = OptimizerSpec::Kind::adam});
  for (const std::int64_t batch : {1, 3, 32}) {
    for (const Graph& graph : {model.step(batch), model.evaluation(batch)}) {
      const std::string text = to_text(graph);
      EXPECT_EQ(to_text(instantiate(parse_step(text, "text"), 1)), text);
    }
  }
}

INSTANTIATE_TEST_SUITE_P(All, ExampleText, testing::ValuesIn(example_names()),
                         [](const auto& each) { return each.param; });

// docs/step-files.md has a row for each op, and each setting with its default.
TEST(StepFilesPage, TablesHoldEveryOpAndSetting) {
  std::ifstream file(STEPSCOPE_EXAMPLES_DIR "/../step-files.md");
  std::string page, ops = ",";
  for (std::string line; std::getline(file, line);) {
    page += line + "\n";
    const std::size_t end = line.find(" |", 2);
    if (line.starts_with("| ") && end != std::string::npos) {
      ops += fmt::format(" {},", line.substr(2, end - 2));
    }
  }
  for (std::size_t i = 0; i < kBuiltinOps; ++i) {
    const OpDef& def = op_def(static_cast<OpKind>(i));
    EXPECT_NE(ops.find(fmt::format(" {},", def.name)), std::string::npos) << def.name;
    std::istringstream settings(to_string(def.attrs) + ",");
    for (std::string word, setting; settings >> word;) {
      setting += (setting.empty() ? "" : " ") + word;
      if (word.back() != ',') continue;
      if (setting != ",") {
        const std::string written = setting.substr(0, setting.size() - 1);
        EXPECT_NE(page.find(written), std::string::npos) << def.name << ": " << written;
      }
      setting.clear();
    }
  }
}

}  // namespace
}  // namespace stepscope::test
