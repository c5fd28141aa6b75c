// The golden steps of dense nets on the CUDA backend under the simulator: losses against PyTorch's
// in float64, in three modes, captured and of explicit nodes, fused or not.
// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include "backends/execution/session.h"
#include "graph/passes/fusion.h"
#include "tests/backends/cuda/backend/ways.h"
#include "tests/golden/golden_cases.h"
#include "tests/support/tensor_bytes.h"

namespace stepscope::cuda {
namespace {

using golden::Case;

// As tests/golden has it for f32, for the losses that fair_losses_f32() names.
constexpr double kTolerance = 1e-5;

struct Run {
  const Case* golden;
  Way way;
  Mode mode;
  const char* fusion;
};

std::vector<Run> runs() {
  std::vector<Run> all;
  for (const Case& golden : golden::cases()) {
    if (golden.model.substr(0, 3) != "mlp") continue;
    for (const char* fusion : {"off", "on"}) {
      for (const Mode mode : {Mode::eager, Mode::planned, Mode::graph}) {
        all.push_back({&golden, kCapture, mode, fusion});
      }
      all.push_back({&golden, kNodes, Mode::graph, fusion});
    }
  }
  return all;
}

class CudaGolden : public BackendTest, public testing::WithParamInterface<Run> {
 protected:
  CudaGolden() : BackendTest(GetParam().way) {}
};

void write(Session& session, std::string_view name, const std::vector<double>& elements) {
  session.memory().write(session.stream(), name, test::to_bytes(elements, DType::f32));
}

void write_parameters(Session& session, const Case& golden) {
  std::size_t p = 0;
  for (const Value& value : session.step(golden.batch).graph().values()) {
    if (value.role != Role::parameter || value.sharing != Sharing::own || value.producer >= 0) {
      continue;
    }
    ASSERT_LT(p, golden.parameters_after.size());
    write(session, value.name,
          golden::u(p, golden.parameters_after[p].elements, golden.parameter_scale, 0.0));
    ++p;
  }
  ASSERT_EQ(p, golden.parameters_after.size());
}

TEST_P(CudaGolden, LossesMatchPyTorch) {
  const auto& [golden, way, mode, fusion] = GetParam();
  const std::unique_ptr<Backend> backend = make_backend(way);
  SessionOptions options;
  options.mode = mode;
  options.step_batches = {golden->batch};
  options.passes = passes_for(parse_fusion(fusion), backend->wishes());
  Session session(*backend, make_model(golden->model, golden->optimizer), options);
  write_parameters(session, *golden);
  const Counters before = session.stream().counters();
  for (std::size_t t = 0; t < golden::fair_losses_f32(*golden); ++t) {
    write(session, "x", golden::u(1000 + t, golden->input_elements, 1.0, 0.5));
    const auto labels = golden::labels_of(*golden, static_cast<std::int64_t>(t));
    session.memory().write(session.stream(), "labels", std::as_bytes(std::span(labels)));
    session.step(golden->batch).enqueue(session.stream());
    EXPECT_NEAR(session.loss(golden->batch), golden->losses[t], kTolerance * golden->losses[t])
        << "step " << t;
  }
  EXPECT_EQ(executed_mode(session.stream().counters() - before), mode);
}

INSTANTIATE_TEST_SUITE_P(All, CudaGolden, testing::ValuesIn(runs()), [](const auto& made) {
  const Run& run = made.param;
  return fmt::format("{}_{}_{}{}", golden::case_name(*run.golden), name(run.mode), run.way.name,
                     run.fusion == std::string_view("on") ? "_fused" : "");
});

}  // namespace
}  // namespace stepscope::cuda
