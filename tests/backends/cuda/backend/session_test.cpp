// Sessions on cuda-sim: the modes are equal bit for bit under every schedule and order, their
// counts are exact and agree with what the device ran, and errors name the op.
// SPDX-License-Identifier: Apache-2.0
#include "backends/execution/session.h"

#include <fmt/format.h>

#include <cmath>

#include "backends/cuda/recording.h"
#include "backends/execution/planned.h"
#include "backends/execution/reconcile.h"
#include "tests/backends/cuda/backend/bodies.h"
#include "tests/backends/cuda/backend/fixture.h"
#include "tests/backends/cuda/backend/session_support.h"

namespace stepscope::cuda {
namespace {

using cudasim::Order;
using cudasim::Schedule;
using stepscope::test::Trace;
using test::Case;
using test::Trainee;

struct Way {
  std::string_view what;
  Mode mode;
  RecordAs record_as = RecordAs::capture;
};
constexpr std::array kWays = {Way{"eager", Mode::eager}, Way{"planned", Mode::planned},
                              Way{"capture", Mode::graph},
                              Way{"nodes", Mode::graph, RecordAs::nodes}};

class Sessions : public test::DeviceTest {
 protected:
  static Case in(Case each, const Way& way) {
    each.mode = way.mode;
    each.record_as = way.record_as;
    return each;
  }

  static Trace trained(const Case& each, int steps) {
    Trainee run(each);
    Trace trace;
    stepscope::test::train(run.session(), each.rows, steps, trace);
    return trace;
  }

  // Full batches, the smaller last one, the validation, and full ones again.
  static Trace trained_in_turn(const Case& each) {
    Trainee run(each);
    Trace trace;
    for (int epoch = 0; epoch < 2; ++epoch) {
      stepscope::test::train(run.session(), each.rows, 2, trace);
      stepscope::test::train(run.session(), each.fewer, 1, trace);
      stepscope::test::evaluate(run.session(), each.rows, trace);
      stepscope::test::evaluate(run.session(), each.fewer, trace);
    }
    stepscope::test::train(run.session(), each.rows, 1, trace);
    return trace;
  }
};

TEST_F(Sessions, TrainTheLargeNetEquallyInEveryWay) {
  const Case large{.model = "mlp:784-128-10", .rows = 4, .fewer = 2};
  const Trace eager = trained(in(large, kWays[0]), 3);
  EXPECT_NE(eager.losses.front(), eager.losses.back());
  for (const double loss : eager.losses) EXPECT_TRUE(std::isfinite(loss));
  for (const Way& way : kWays) {
    EXPECT_EQ(first_difference(eager, trained(in(large, way), 3)), "") << way.what;
  }
}

// One model segment under the plans of a batch, of its rest and of the validation.
TEST_F(Sessions, ShareTheModelBetweenBatchSizesAndEvaluations) {
  const Case small{.model = "mlp:17-9-5-3", .rows = 7, .fewer = 3};
  const Trace eager = trained_in_turn(in(small, kWays[0]));
  for (const Way& way : kWays) {
    EXPECT_EQ(first_difference(eager, trained_in_turn(in(small, way))), "") << way.what;
  }
}

TEST_F(Sessions, DoNotDependOnScheduleOrOrder) {
  const Case small{.model = "mlp:33-17-4", .rows = 5, .fewer = 2};
  const Trace first = trained(in(small, kWays[0]), 3);
  std::uint64_t seed = 1;
  for (const Schedule schedule :
       {Schedule::lazy, Schedule::eager, Schedule::seeded, Schedule::others_first}) {
    for (const Order order : {Order::ascending, Order::descending, Order::seeded}) {
      for (const Way& way : kWays) {
        cudasim::reset({.schedule = schedule, .blocks = order, .threads = order, .seed = ++seed});
        EXPECT_EQ(first_difference(first, trained(in(small, way), 3)), "")
            << way.what << ", schedule " << static_cast<int>(schedule) << ", order "
            << static_cast<int>(order);
        EXPECT_TRUE(cudasim::finish().empty());
      }
    }
  }
}

// What the stream counted, what the program says, and what the device ran are one thing.
TEST_F(Sessions, CountExactly) {
  constexpr std::uint64_t kSteps = 3;
  for (const bool fused : {false, true}) {
    for (const Way& way : kWays) {
      const Case each = in({.fused = fused}, way);
      Trainee run(each);
      Session& session = run.session();
      stepscope::test::load(session, stepscope::test::make_rows(session.model(), each.rows, 1));
      session.stream().wait();
      session.stream().keep_log(512, LogOperands::copied);
      const Counters before = session.stream().counters();
      const cudasim::Totals ran_before = cudasim::totals();
      for (std::uint64_t i = 0; i < kSteps; ++i) session.enqueue_step(each.rows);
      session.stream().wait();
      const Counters counted = session.stream().counters() - before;
      const cudasim::Totals ran = cudasim::totals();
      const Program& program = session.step(each.rows).program();
      reconcile(program, counted, session.stream().log(),
                {.mode = each.mode, .steps = kSteps, .memory = &session.memory()});
      std::uint64_t calls = 0;
      for (const Kernel* kernel : program.kernels) calls += kernel->calls();
      const std::uint64_t launches = program.kernels.size();
      const bool graph = each.mode == Mode::graph;
      EXPECT_EQ(counted.submitted, graph ? 0 : kSteps * launches) << way.what;
      EXPECT_EQ(counted.replays, graph ? kSteps : 0) << way.what;
      EXPECT_EQ(counted.library_calls + counted.own_calls, kSteps * calls) << way.what;
      const std::uint64_t kernels = ran.kernels - ran_before.kernels;
      const std::uint64_t products = ran.library_calls - ran_before.library_calls;
      EXPECT_EQ(kernels, counted.own_calls) << way.what;
      EXPECT_EQ(products, counted.library_calls) << way.what;
      EXPECT_EQ(ran.graph_launches - ran_before.graph_launches, counted.replays) << way.what;
      EXPECT_EQ(ran.nodes - ran_before.nodes, graph ? kSteps * calls : 0) << way.what;
      EXPECT_EQ(ran.copies, ran_before.copies) << way.what;
      EXPECT_EQ(ran.fills, ran_before.fills) << way.what;
    }
  }
}

// A graph's step is one call of CUDA and no other.
TEST_F(Sessions, ReplayWithOneCall) {
  Trainee run({});
  run->load(stepscope::test::make_rows(run->model(), 3, 1).x,
            stepscope::test::make_rows(run->model(), 3, 1).labels);
  const auto all_calls = [] {
    std::uint64_t calls = 0;
#define CALL(name, library, legality) calls += cudasim::calls_of(#name);
#include "backends/cuda/sim/calls.inc"
    return calls;
  };
  // Debug builds wait behind each step to mark dead memory.
  const std::uint64_t before = all_calls() - cudasim::calls_of("cudaStreamSynchronize");
  const std::uint64_t launches = cudasim::calls_of("cudaGraphLaunch");
  for (int i = 0; i < 5; ++i) run->enqueue_step(3);
  EXPECT_EQ(all_calls() - cudasim::calls_of("cudaStreamSynchronize") - before, 5U);
  EXPECT_EQ(cudasim::calls_of("cudaGraphLaunch") - launches, 5U);
}

// Nobody read anything back: what was enqueued last may run when the session goes.
TEST_F(Sessions, AreDestroyedBehindTheirSteps) {
  for (const Way& way : kWays) {
    Trainee run(in({.optimizer = OptimizerSpec::Kind::adam}, way));
    stepscope::test::load(run.session(), stepscope::test::make_rows(run->model(), 3, 1));
    for (int i = 0; i < 2; ++i) run->enqueue_step(3);
  }
}

// The state that a recording's rehearsal changed is restored, and the plan behind it is refused.
TEST_F(Sessions, ThatAreRefusedAreDestroyedBehindTheirWork) {
  for (const char* call : {"cudaMalloc", "cudaMallocHost", "cudaMemcpyAsync", "cudaEventRecord",
                           "cudaStreamWaitEvent", "cudaGraphUpload"}) {
    for (int nth = 1;; ++nth) {
      cudasim::reset();
      cudasim::fail_call(call, cudaErrorUnknown, nth);
      const std::string message = test::message_of([&] { Trainee run({}); });
      if (message.empty()) break;
      EXPECT_EQ(test::fault_at_the_end(), "") << call << ' ' << nth << ": " << message;
    }
  }
}

TEST_F(Sessions, WarmUpDoesNotTrain) {
  for (const Way& way : kWays) {
    Trainee run(in({}, way));
    stepscope::test::load(run.session(), stepscope::test::make_rows(run->model(), 3, 99));
    const auto before = run->parameters_and_states();
    const Case each{};
    EXPECT_THROW(run->enqueue_step(each.fewer), Error);
    run->warm_up();
    EXPECT_EQ(run->parameters_and_states(), before) << way.what;
  }
}

TEST_F(Sessions, TellWhatMakingThemTook) {
  Trainee graph({});
  EXPECT_TRUE(graph->setup_times().capture_ns.has_value());
  EXPECT_TRUE(graph->setup_times().instantiate_ns.has_value());
  EXPECT_TRUE(graph->setup_times().upload_ns.has_value());
}

// Kernels that are made anew for each call are not tried anew.
TEST_F(Sessions, TryEachSiteOnce) {
  const auto backend = make_backend({});
  SessionOptions options{.mode = Mode::eager, .step_batches = {3}, .seed = 7};
  options.executor.eager_cache = EagerCache::off;
  Session session(*backend, make_model("mlp:5-4-3"), std::move(options));
  stepscope::test::load(session, stepscope::test::make_rows(session.model(), 3, 1));
  const std::uint64_t tried = cudasim::totals().fills;
  EXPECT_GT(tried, 0U);
  for (int i = 0; i < 3; ++i) session.enqueue_step(3);
  session.stream().wait();
  EXPECT_EQ(cudasim::totals().fills, tried);
}

TEST_F(Sessions, ErrorsOfAStepNameTheOp) {
  for (const Way& way : {kWays[0], kWays[1]}) {
    Trainee run(in({}, way));
    stepscope::test::load(run.session(), stepscope::test::make_rows(run->model(), 3, 1));
    cudasim::fail_call("cublasLtMatmul", CUBLAS_STATUS_INTERNAL_ERROR, 2);
    const std::string message = test::message_of([&] { run->enqueue_step(3); });
    const Graph& graph = run->step(3).graph();
    std::size_t op = 0;  // the second product
    for (int seen = 0; seen < 2; ++op) seen += graph.ops()[op].kind == OpKind::MatMul ? 1 : 0;
    const std::string place =
        fmt::format("op {} MatMul ({}): ", op - 1, to_string(graph.ops()[op - 1].phases));
    EXPECT_EQ(message.rfind(place, 0), 0U) << message;
    EXPECT_NE(message.find("cublasLtMatmul"), std::string::npos) << message;
    run->stream().wait();
  }
}

TEST_F(Sessions, ErrorsOfARecordingNameTheOp) {
  // The trials of a first session leave the rehearsal's products as the only ones of the next.
  const auto backend = make_backend({});
  const auto make = [&](Mode mode) {
    return std::make_unique<Session>(*backend, make_model("mlp:5-4-3"),
                                     SessionOptions{.mode = mode, .step_batches = {3}});
  };
  make(Mode::planned);
  cudasim::fail_call("cublasLtMatmul", CUBLAS_STATUS_INTERNAL_ERROR, 1);
  const std::string message = test::message_of([&] { make(Mode::graph); });
  EXPECT_EQ(message.rfind("op 0 MatMul (forward): cuda: recording: cublasLtMatmul", 0), 0U)
      << message;
  make(Mode::graph);
}

}  // namespace
}  // namespace stepscope::cuda
