// Every kind of op that a built-in model has is timed alone somewhere, under a name of its own, and
// launches made one by one do what a step does.
// SPDX-License-Identifier: Apache-2.0
#include "bench/suites/op_cases.h"

#include <gtest/gtest.h>

#include <set>

#include "backends/execution/session.h"
#include "backends/registry/registry.h"
#include "bench/suites/step_launches.h"

namespace stepscope::suites {
namespace {

constexpr std::int64_t kBatch = 4;

std::vector<OpCase> usual_cases(Backend& backend) {
  const std::vector<std::string> models(kOpModels.begin(), kOpModels.end());
  const std::vector<std::int64_t> batches = {kBatch};
  return op_cases(models, batches, backend);
}

// Models that take no name alone.
std::string spec_of(const CatalogEntry& entry) {
  if (entry.name == "chain") return "chain:3";
  if (entry.name == "fork") return "fork:3x2";
  return std::string(entry.name);
}

void add_kinds(std::set<std::string>& kinds, const OpPlace& place, Backend& backend) {
  const Graph graph = graph_of(place, backend);
  for (const Op& op : graph.ops()) kinds.emplace(name(op.kind));
}

class OpCases : public testing::TestWithParam<std::string> {
 protected:
  std::unique_ptr<Backend> backend_ = Registry::builtin().make(GetParam(), {});
};

TEST_P(OpCases, HaveEveryKindThatABuiltInModelHas) {
  std::set<std::string> wanted, found;
  for (const CatalogEntry& entry : catalog()) {
    for (const auto optimizer :
         {OptimizerSpec::Kind::sgd, OptimizerSpec::Kind::momentum, OptimizerSpec::Kind::adam}) {
      for (const char* fusion : {"off", "on"}) {
        OpPlace place{spec_of(entry), optimizer, fusion, false, kBatch};
        add_kinds(wanted, place, *backend_);
        place.evaluation = true;
        if (make_model(place.model).has_loss()) add_kinds(wanted, place, *backend_);
      }
    }
  }
  for (const OpCase& each : usual_cases(*backend_)) found.insert(each.kind);
  EXPECT_EQ(found, wanted);
  EXPECT_GT(found.size(), 15U);
}

TEST_P(OpCases, HaveNamesOfTheirOwnThatLeadToTheOp) {
  std::set<std::string> names;
  for (const OpCase& each : usual_cases(*backend_)) {
    const std::string text = each.kind + "/" + each.shape;
    EXPECT_TRUE(names.insert(text).second) << text;
    EXPECT_EQ(text.find_first_of(" {}"), std::string::npos) << text;
    const Graph graph = graph_of(each.place, *backend_);
    ASSERT_LT(each.op, graph.ops().size()) << text;
    const OpSite site = site_of(graph, each.op);
    EXPECT_EQ(name(site.kind), each.kind);
    EXPECT_EQ(op_shape(site), each.shape);
  }
}

INSTANTIATE_TEST_SUITE_P(Backends, OpCases, testing::ValuesIn(Registry::builtin().available()),
                         [](const auto& each) { return each.param; });

TEST(OpShape, SaysSizesAndWhatIsUnusual) {
  const auto f32 = [](std::initializer_list<std::int64_t> dims) {
    return TensorType{Shape(dims), DType::f32};
  };
  EXPECT_EQ(op_shape({OpKind::MatMul, MatMulAttrs{}, {f32({32, 784}), f32({784, 128})}, {}}),
            "32x784x128");
  EXPECT_EQ(
      op_shape(
          {OpKind::MatMul, MatMulAttrs{.transpose_a = true}, {f32({32, 784}), f32({32, 128})}, {}}),
      "784x32x128/transpose_a=true");
  EXPECT_EQ(op_shape({OpKind::MatMulUpdate,
                      ProductUpdateAttrs{.transpose_b = true},
                      {f32({8, 6}), f32({8, 5}), f32({6, 5})},
                      {}}),
            "8x5x6/transpose_b=true");
  EXPECT_EQ(op_shape({OpKind::AddBias, {}, {f32({32, 10}), f32({10})}, {}}), "32x10,10");
  EXPECT_EQ(op_shape({OpKind::Relu, {}, {f32({})}, {}}), "s");
  EXPECT_EQ(op_shape({OpKind::Relu, {}, {{{1, 8}, DType::f32, LayoutId{3}}}, {}}), "1x8@3");
  EXPECT_EQ(op_shape({OpKind::Scale, ScaleAttrs{.factor = 0.5}, {f32({7})}, {}}), "7/factor=0.5");
  EXPECT_EQ(
      op_shape({OpKind::Fill, FillAttrs{.type = f32({2, 3}), .value = 1.0}, {}, {f32({2, 3})}}),
      "2x3/type=f32.2_3,value=1");
  const std::vector<TensorType> five(5, f32({10}));
  EXPECT_EQ(op_shape({OpKind::AdamUpdate, AdamAttrs{}, five, {f32({10}), f32({2, 3})}}), "16");
}

TEST(StepLaunches, OneAfterTheOtherAreAStep) {
  const std::unique_ptr<Backend> backend = Registry::builtin().make("reference", {});
  Session session(*backend, make_model("mlp:6-5-3"),
                  {.mode = Mode::planned, .step_batches = {kBatch}, .in_place = InPlace::off});
  load_noise(session, kBatch, 1);
  Stream& stream = session.stream();
  const std::vector<std::byte> start = session.memory().snapshot(stream);
  session.enqueue_step(kBatch);
  const auto after_step = session.parameters_and_states();
  session.memory().restore(stream, start);
  EXPECT_NE(session.parameters_and_states(), after_step);
  const StepLaunches launches(session.step(kBatch).program(), session);
  ASSERT_EQ(launches.size(), session.step(kBatch).graph().ops().size());
  for (std::size_t op = 0; op < launches.size(); ++op) launches.submit(stream, op);
  stream.wait();
  EXPECT_EQ(session.parameters_and_states(), after_step);
}

}  // namespace
}  // namespace stepscope::suites
