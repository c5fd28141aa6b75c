// What each fusion pass makes of a small step, as text, and what all of them remove from the
// models, in numbers.
// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include "ops/models/model.h"
#include "tests/graph/fusion_rig.h"
#include "tests/support/golden.h"

namespace stepscope {
namespace {

std::string before_and_after(const Graph& before, const PassResult& after) {
  std::string text = to_text(before) + "-------- becomes\n" + to_text(after.graph);
  for (const std::string& note : after.notes) text += "note: " + note + "\n";
  return text;
}

constexpr Wishes kWishes = {.relu_mask = true, .small_product = 8};

// Every pass, alone, on the step of a dense net; small_cnn where that says more.
TEST(FusionGolden, EachPassAlone) {
  for (const Pass& pass : fusion_passes(kWishes)) {
    if (!pass.run) continue;  // layout has a test of its own
    SCOPED_TRACE(pass.name);
    const std::string model = pass.name == "pointwise" ? "chain:14:4" : "mlp:4-3-2";
    Graph before = simplify(make_model(model).step(2));
    // What these two put together is made by the passes in front of them.
    if (pass.name == "relu_mask" || pass.name == "small_update") {
      before = run_passes(before, passes_for(parse_fusion("on"), {})).graph;
    }
    test::expect_golden(fmt::format("passes/{}.txt", pass.name),
                        before_and_after(before, pass.run(before)));
  }
}

TEST(FusionGolden, AllOnAConvolutionalNet) {
  const PipelineResult all =
      run_passes(make_model("small_cnn").step(2), passes_for(parse_fusion("on"), {}));
  test::expect_golden("passes/small_cnn.txt", to_text(all.graph));
}

struct Removed {
  std::size_t ops;
  std::int64_t bytes;
  friend bool operator==(const Removed&, const Removed&) = default;
};

void PrintTo(const Removed& removed, std::ostream* stream) {
  *stream << "{" << removed.ops << ", " << removed.bytes << "}";
}

std::vector<Removed> removed(const std::string& model, std::int64_t batch,
                             const Wishes& wishes = {}) {
  const PipelineResult result =
      run_passes(make_model(model).step(batch), passes_for(parse_fusion("on"), wishes));
  std::vector<Removed> all;
  for (const PassReport& report : result.reports) {
    if (report.name == "simplify" || report.name == "schedule") continue;
    all.push_back({report.ops_before - report.ops_after, report.intermediate_bytes_removed});
  }
  return all;
}

constexpr std::int64_t kFloat = 4;  // bytes

// In the order of the table: epilogue, loss_grad, relu_grad, bias_grad, fold_sgd, multi_tensor,
// pointwise.
TEST(FusionRemoves, FromAnMlp) {
  EXPECT_EQ(removed("mlp:784-128-10", 32),
            (std::vector<Removed>{{3, (2 * 32 * 128 + 32 * 10) * kFloat},  // two products, one sum
                                  {1, 32 * 10 * kFloat},                   // probabilities
                                  {1, 32 * 128 * kFloat},                  // dX behind the relu
                                  {2, 0},  // both gradients still exist
                                  {2, (784 * 128 + 128 * 10) * kFloat},  // weight gradients
                                  {1, 0},
                                  {0, 0}}));
}

// As above, then: a mask of a byte an element that was not there, and the small product.
TEST(FusionRemoves, FromAnMlpWhereItIsWishedFor) {
  const std::vector<Removed> all =
      removed("mlp:784-128-10", 32, {.relu_mask = true, .small_product = 4096});
  ASSERT_EQ(all.size(), 9U);
  EXPECT_EQ(all[6], (Removed{0, -32 * 128}));
  EXPECT_EQ(all[7], (Removed{1, 10 * kFloat}));  // the column sums
}

TEST(FusionRemoves, FromASmallCnn) {
  constexpr std::int64_t kImages = 8 * 24 * 24 + 16 * 12 * 12;  // behind the convolutions
  EXPECT_EQ(removed("small_cnn", 8),
            (std::vector<Removed>{{5, (2 * kImages + 3) * 8 * kFloat},
                                  {1, 3 * 8 * kFloat},
                                  {2, kImages * 8 * kFloat},
                                  {3, 0},
                                  {3, (8 * 9 + 16 * 8 * 9 + 576 * 3) * kFloat},
                                  {2, 0},
                                  {0, 0}}));
}

TEST(FusionRemoves, FromLenet) {
  constexpr std::int64_t kImages = 6 * 28 * 28 + 16 * 10 * 10;
  constexpr std::int64_t kDense = 120 + 84;
  EXPECT_EQ(
      removed("lenet", 8),
      (std::vector<Removed>{{9, (2 * (kImages + kDense) + 10) * 8 * kFloat},
                            {1, 10 * 8 * kFloat},
                            {4, (kImages + kDense) * 8 * kFloat},
                            {5, 0},
                            {5, (6 * 25 + 16 * 6 * 25 + 400 * 120 + 120 * 84 + 84 * 10) * kFloat},
                            {4, 0},
                            {0, 0}}));
}

TEST(FusionRemoves, NothingElseWhenAPassIsLeftOut) {
  for (const std::string& name : fusion_names()) {
    const PipelineResult result =
        run_passes(make_model("lenet").step(2), passes_for(parse_fusion("-" + name), {}));
    for (const PassReport& report : result.reports) EXPECT_NE(report.name, name);
  }
}

TEST(FusionReports, CarryTheNotesOfEachPass) {
  const PipelineResult result =
      run_passes(make_model("mlp:4-3-2", {.kind = OptimizerSpec::Kind::adam}).step(2),
                 passes_for(parse_fusion("fold_sgd"), {}));
  ASSERT_EQ(result.reports.size(), 3U);
  EXPECT_EQ(result.reports[1].notes,
            std::vector<std::string>{"b2 is updated by AdamUpdate, not by plain SGD"});
  EXPECT_TRUE(result.reports[0].notes.empty());
}

}  // namespace
}  // namespace stepscope
