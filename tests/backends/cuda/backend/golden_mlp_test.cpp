// The golden steps of dense nets on the CUDA backend under the simulator: losses against PyTorch's
// in float64, in three modes, captured and of explicit nodes, fused or not; and the same bits in
// all.
// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <algorithm>
#include <iterator>

#include "backends/execution/session.h"
#include "graph/passes/fusion.h"
#include "tests/backends/cuda/backend/ways.h"
#include "tests/backends/execution/training.h"
#include "tests/golden/golden_cases.h"
#include "tests/support/tensor_bytes.h"

namespace stepscope::cuda {
namespace {

using golden::Case;

// As tests/golden has it for f32, for the losses that fair_losses_f32() names.
constexpr double kTolerance = 1e-5;

struct Golden {
  const Case* golden;
  const char* fusion;
  std::uint64_t n;  // of all
};

std::vector<Golden> all_cases() {
  std::vector<Golden> all;
  for (const Case& golden : golden::cases()) {
    if (golden.model.substr(0, 3) != "mlp") continue;
    for (const char* fusion : {"off", "on"}) all.push_back({&golden, fusion, all.size()});
  }
  return all;
}

struct Arm {
  Mode mode;
  RecordAs record_as;
};
constexpr Arm kArms[] = {{Mode::eager, RecordAs::capture},
                         {Mode::planned, RecordAs::capture},
                         {Mode::graph, RecordAs::capture},
                         {Mode::graph, RecordAs::nodes}};

void write(Session& session, std::string_view name, const std::vector<double>& elements) {
  session.memory().write(session.stream(), name, stepscope::test::to_bytes(elements, DType::f32));
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

class CudaGolden : public test::DeviceTest, public testing::WithParamInterface<Golden> {
 protected:
  // The losses of the first steps, checked, and the bits behind them.
  stepscope::test::Trace trained(const Arm& arm, std::size_t steps) {
    const auto& [golden, fusion, n] = GetParam();
    const auto backend = make_backend(BackendOptions{.record_as = arm.record_as});
    Session session(*backend, make_model(golden->model, golden->optimizer),
                    {.mode = arm.mode,
                     .step_batches = {golden->batch},
                     .passes = passes_for(parse_fusion(fusion), backend->wishes())});
    write_parameters(session, *golden);
    const Counters before = session.stream().counters();
    stepscope::test::Trace trace;
    for (std::size_t t = 0; t < steps; ++t) {
      write(session, "x", golden::u(1000 + t, golden->input_elements, 1.0, 0.5));
      const auto labels = golden::labels_of(*golden, static_cast<std::int64_t>(t));
      session.memory().write(session.stream(), "labels", std::as_bytes(std::span(labels)));
      session.step(golden->batch).enqueue(session.stream());
      trace.losses.push_back(session.loss(golden->batch));
      EXPECT_NEAR(trace.losses[t], golden->losses[t], kTolerance * golden->losses[t])
          << "step " << t;
    }
    EXPECT_EQ(executed_mode(session.stream().counters() - before), arm.mode);
    trace.end = session.parameters_and_states();
    return trace;
  }
};

// Of the largest nets the modes are compared behind three steps, and one mode trains on: behind
// equal bits and with the same kernels nothing is left to differ, and half of the suite's time is
// theirs.
std::size_t compared_steps(const Case& golden) {
  constexpr std::size_t kLarge = 200'000;  // parameters
  std::size_t parameters = 0;
  for (const golden::Parameter& each : golden.parameters_after) parameters += each.elements;
  const std::size_t all = golden::fair_losses_f32(golden);
  return parameters > kLarge ? std::min<std::size_t>(all, 3) : all;
}

// PyTorch's losses, and the same bits in every mode, each of which has a device of its own.
TEST_P(CudaGolden, LossesMatchPyTorchAndBitsMatchBetweenModes) {
  const auto& [golden, fusion, number] = GetParam();
  const std::size_t compared = compared_steps(*golden);
  stepscope::test::Trace first;
  std::uint64_t n = number;
  for (const Arm& arm : kArms) {
    SCOPED_TRACE(fmt::format("{} {}, device {}", name(arm.mode),
                             arm.record_as == RecordAs::nodes ? "nodes" : "", n % kDevices));
    begin_anew(nth_device(n++));
    stepscope::test::Trace trace = trained(arm, compared);
    if (first.losses.empty())
      first = std::move(trace);
    else
      EXPECT_EQ(first_difference(first, trace), "");
    if (HasFailure()) return;
  }
  const std::size_t all = golden::fair_losses_f32(*golden);
  if (all == compared) return;
  begin_anew(nth_device(n));
  trained(kArms[number / 2 % std::size(kArms)], all);  // of unfused and fused ones each
}

INSTANTIATE_TEST_SUITE_P(All, CudaGolden, testing::ValuesIn(all_cases()), [](const auto& made) {
  const Golden& each = made.param;
  return golden::case_name(*each.golden) + (each.fusion == std::string_view("on") ? "_fused" : "");
});

}  // namespace
}  // namespace stepscope::cuda
