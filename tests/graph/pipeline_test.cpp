// The pipeline: order, reports, what may be left out, and bad passes caught by name.
// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include <array>

#include "graph/passes/pass.h"
#include "ops/base/check.h"
#include "ops/ir/build.h"
#include "ops/ir/print.h"
#include "ops/models/model.h"
#include "tests/support/errors.h"

namespace stepscope {
namespace {

using test::error_of;

TEST(Pipeline, StandardPassesSimplifyThenSchedule) {
  std::vector<std::string_view> names;
  for (const Pass& pass : standard_passes()) {
    names.push_back(pass.name);
    EXPECT_FALSE(pass.summary.empty());
  }
  EXPECT_EQ(names, (std::vector<std::string_view>{"simplify", "schedule"}));
}

TEST(Pipeline, ReportsWhatEachPassChanged) {
  Graph graph;
  const TensorType type{{10}, DType::f32};
  const ValueId x = graph.declare(Role::input, type, "x");
  (void)build::relu(graph, x);
  (void)graph.reshape(build::tanh(graph, x), {2, 5});  // a view has no bytes of its own
  graph.keep(build::sigmoid(graph, x), "y");
  const PipelineResult result = run_passes(graph, standard_passes());
  ASSERT_EQ(result.reports.size(), 2U);
  EXPECT_EQ(result.reports[0].name, "simplify");
  EXPECT_EQ(result.reports[0].ops_before, 3U);
  EXPECT_EQ(result.reports[0].ops_after, 1U);
  EXPECT_EQ(result.reports[0].intermediate_bytes_removed, 80);
  EXPECT_GT(result.reports[0].time.count(), 0);
  EXPECT_EQ(result.reports[1].name, "schedule");
  EXPECT_EQ(result.reports[1].ops_before, 1U);
  EXPECT_EQ(result.reports[1].ops_after, 1U);
  EXPECT_EQ(result.reports[1].intermediate_bytes_removed, 0);
  EXPECT_EQ(result.graph.ops().size(), 1U);
}

TEST(Pipeline, WithoutPassesTheGraphStays) {
  const Graph graph = make_model("mlp:4-3-2").step(2);
  const PipelineResult result = run_passes(graph, {});
  EXPECT_EQ(to_text(result.graph), to_text(graph));
  EXPECT_TRUE(result.reports.empty());
}

TEST(Pipeline, LeavesOutPassesByName) {
  const Graph graph = make_model("mlp:4-3-2").step(2);
  const std::vector<std::string> leave_out = {"simplify"};
  const PipelineResult result = run_passes(graph, standard_passes(), leave_out);
  ASSERT_EQ(result.reports.size(), 1U);
  EXPECT_EQ(result.reports[0].name, "schedule");
  EXPECT_EQ(result.graph.ops().size(), 18U) << "the Fill of autodiff is still there";
}

TEST(Pipeline, SaysWhichPassWasPerhapsMeant) {
  const std::vector<std::string> leave_out = {"schedule", "simplfy"};
  EXPECT_EQ(error_of([&] { (void)run_passes(Graph(), standard_passes(), leave_out); }),
            "bad input: unknown pass 'simplfy': did you mean 'simplify'? "
            "(there are: simplify, schedule)");
}

// A pass that lets an op read a parameter after its update.
Graph reads_too_late(const Graph&) {
  Graph graph;
  const TensorType type{{4}, DType::f32};
  const ValueId w = graph.declare(Role::parameter, type, "w");
  const ValueId rate = graph.declare(Role::state, {Shape{}, DType::f32}, "rate");
  graph.apply(OpKind::SgdUpdate, {w, w, rate}, SgdAttrs{});
  graph.keep(build::relu(graph, w), "y");
  return graph;
}

Graph gives_up(const Graph&) { fail(Fault::unsupported, "this graph is too hard"); }

Graph same(const Graph& graph) { return graph; }

TEST(Pipeline, CatchesABadPassByName) {
  const std::array passes = {Pass{"harmless", "changes nothing", same},
                             Pass{"planted", "breaks the law", reads_too_late},
                             Pass{"later", "changes nothing", same}};
  EXPECT_EQ(error_of([&] { (void)run_passes(Graph(), passes); }),
            "bad graph: planted: op 1 (Relu) reads w after op 0 overwrote its storage w");
}

TEST(Pipeline, TellsWhichPassGaveUp) {
  const std::array passes = {Pass{"planted", "throws", gives_up}};
  EXPECT_EQ(error_of([&] { (void)run_passes(Graph(), passes); }),
            "unsupported: planted: this graph is too hard");
}

TEST(Pipeline, ChecksTheGraphItIsGiven) {
  EXPECT_EQ(error_of([&] { (void)run_passes(reads_too_late({}), standard_passes()); }),
            "bad graph: graph before the passes: op 1 (Relu) reads w after op 0 overwrote its "
            "storage w");
}

}  // namespace
}  // namespace stepscope
