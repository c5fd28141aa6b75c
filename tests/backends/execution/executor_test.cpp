// What executors promise beside equal bits: what is counted, what is held, where values lie, and
// what they say when they cannot.
// SPDX-License-Identifier: Apache-2.0
#include "backends/execution/executor.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <array>
#include <cstring>

#include "backends/api/dead_memory.h"
#include "backends/api/host.h"
#include "backends/null/null.h"
#include "backends/reference/reference.h"
#include "ops/autodiff/backward.h"
#include "ops/ir/build.h"
#include "ops/models/model.h"
#include "ops/models/optimizer.h"
#include "tests/backends/execution/rig.h"
#include "tests/support/errors.h"

namespace stepscope {
namespace {

using test::error_of;
using test::Rig;

constexpr std::array kModes = {Mode::eager, Mode::planned, Mode::graph};

Graph mlp_step() { return make_model("mlp:7-5-3", {.kind = OptimizerSpec::Kind::adam}).step(4); }

TEST(Counters, SayWhatEachModeDoes) {
  constexpr std::uint64_t kSteps = 7;
  for (const auto& make : {null::make_backend, reference::make_backend}) {
    const auto backend = make({});
    Rig rig(*backend, mlp_step());
    const std::uint64_t ops = rig.graph().ops().size();
    for (const Mode mode : kModes) {
      const auto executor = rig.executor(mode);
      const Counters before = rig.stream().counters();
      for (std::uint64_t step = 0; step < kSteps; ++step) executor->enqueue(rig.stream());
      const Counters counted = rig.stream().counters() - before;
      Counters expected{.steps = kSteps, .own_calls = kSteps * ops};
      switch (mode) {
        case Mode::eager:
          expected.lookups = kSteps * ops;
          [[fallthrough]];
        case Mode::planned:
          expected.submitted = expected.calls_submitted = kSteps * ops;
          break;
        case Mode::graph:
          expected.replays = kSteps;
          expected.calls_replayed = kSteps * ops;
          break;
      }
      EXPECT_TRUE(counted == expected) << backend->name() << " " << name(mode);
      EXPECT_EQ(executed_mode(counted), mode);
    }
  }
}

TEST(Counters, CountCopiesAndTheirBytes) {
  const auto backend = reference::make_backend({});
  Rig rig(*backend, mlp_step());
  const auto executor = rig.executor(Mode::planned);
  const Counters before = rig.stream().counters();
  rig.write("x", std::vector<double>(28));
  rig.write("labels", std::vector<double>(4));
  executor->enqueue(rig.stream());
  (void)rig.read(*executor, "loss");
  (void)rig.read("w1");
  const Counters counted = rig.stream().counters() - before;
  EXPECT_EQ(counted.copies_in, 2U);
  EXPECT_EQ(counted.bytes_in, (28 + 4) * 4U);
  EXPECT_EQ(counted.copies_out, 2U);
  EXPECT_EQ(counted.bytes_out, 4U + 7 * 5 * 4U);
}

TEST(Counters, TellLibraryCallsFromOwnOnes) {
  const auto backend = null::make_backend({});
  const auto stream = backend->make_stream();
  const OpSite site{OpKind::Relu, {}, {{{2}}}, {{{2}}}};
  const auto kernel = backend->lower(site);
  const Launch launch = kernel->bind(nullptr, nullptr);
  stream->made_call(launch, CallBy::library);
  stream->made_call(launch, CallBy::own);
  stream->made_call(launch, CallBy::library);
  EXPECT_EQ(stream->counters().library_calls, 2U);
  EXPECT_EQ(stream->counters().own_calls, 1U);
  const std::vector<LogEntry> log = stream->log();
  ASSERT_EQ(log.size(), 3U);
  EXPECT_EQ(log[0].by, CallBy::library);
  EXPECT_EQ(log[1].by, CallBy::own);
}

TEST(ExecutedMode, IsRefusedWhenTheCountsFitNone) {
  EXPECT_EQ(
      error_of([] { (void)executed_mode({}); }),
      "device: executed mode: 0 steps with 0 look-ups, 0 single launches and 0 replays are no "
      "mode");
  EXPECT_EQ(error_of([] { (void)executed_mode({.steps = 2, .lookups = 3, .submitted = 10}); }),
            "device: executed mode: 2 steps with 3 look-ups, 10 single launches and 0 replays are "
            "no mode");
  EXPECT_EQ(
      error_of([] { (void)executed_mode({.steps = 2, .replays = 1}); }),
      "device: executed mode: 2 steps with 0 look-ups, 0 single launches and 1 replays are no "
      "mode");
  EXPECT_EQ(
      error_of([] { (void)executed_mode({.steps = 1, .submitted = 1, .replays = 1}); }),
      "device: executed mode: 1 steps with 0 look-ups, 1 single launches and 1 replays are no "
      "mode");
}

TEST(ModeNames, GoThereAndBack) {
  for (const Mode mode : kModes) EXPECT_EQ(mode_from(name(mode)), mode);
  EXPECT_EQ(error_of([] { (void)mode_from("grpah"); }),
            "bad input: unknown mode 'grpah': did you mean 'graph'? (there are: eager, planned, "
            "graph)");
}

TEST(Executors, HoldWhatTheyHeldAfterTheFirstStep) {
  for (const auto& make : {null::make_backend, reference::make_backend}) {
    const auto backend = make({});
    Rig rig(*backend, mlp_step());
    for (const Mode mode : kModes) {
      const auto executor = rig.executor(mode);
      executor->enqueue(rig.stream());
      const std::size_t held = executor->bytes_reserved();
      EXPECT_GT(held, 0U);
      for (int step = 0; step < 50; ++step) {
        executor->enqueue(rig.stream());
        ASSERT_EQ(executor->bytes_reserved(), held) << name(mode) << " step " << step;
      }
    }
  }
}

TEST(Executors, KeepWhatIsKeptUntilTheNextStep) {
  const auto backend = reference::make_backend({});
  for (const Mode mode : kModes) {
    Graph graph;
    const ValueId x = graph.declare(Role::input, {{3, 5}, DType::f32}, "x");
    ValueId h = x;
    for (int i = 0; i < 6; ++i) {
      h = build::scale(graph, h, 2.0);
      if (i % 2 == 0) graph.keep(h, fmt::format("kept{}", i));
    }
    const ValueId view = graph.reshape(h, {15});
    graph.keep(view, "view");
    Rig rig(*backend, std::move(graph));
    const auto executor = rig.executor(mode);
    for (double step = 1; step <= 3; ++step) {
      rig.write("x", std::vector<double>(15, step));
      executor->enqueue(rig.stream());
      EXPECT_EQ(rig.read(*executor, "kept0"), std::vector<double>(15, 2 * step)) << name(mode);
      EXPECT_EQ(rig.read(*executor, "kept2"), std::vector<double>(15, 8 * step)) << name(mode);
      EXPECT_EQ(rig.read(*executor, "kept4"), std::vector<double>(15, 32 * step)) << name(mode);
      EXPECT_EQ(rig.read(*executor, "view"), std::vector<double>(15, 64 * step)) << name(mode);
    }
  }
}

TEST(Executors, NeverMoveDeclaredValues) {
  const auto backend = reference::make_backend({});
  Rig rig(*backend, mlp_step());
  for (const Mode mode : kModes) {
    const auto executor = rig.executor(mode);
    for (int step = 0; step < 3; ++step) {
      for (const std::string_view declared : {"x", "labels", "w1", "b2", "w1.m", "control.step"}) {
        EXPECT_EQ(executor->address(*rig.graph().find(declared)), rig.memory().address(declared));
      }
      executor->enqueue(rig.stream());
    }
  }
}

// Views in forward and backward, of inputs, parameters and computed values, views of views.
Graph viewing_step() {
  Graph graph;
  const ValueId x = graph.declare(Role::input, {{3, 4}, DType::f32}, "x");
  const ValueId w = graph.declare(Role::parameter, {{12, 2}, DType::f32}, "w");
  const ValueId flat = graph.reshape(x, {1, 12});
  const ValueId h = build::matmul(graph, flat, w);                     // {1, 2}
  const ValueId again = graph.reshape(graph.reshape(h, {2}), {2, 1});  // a view of a view
  const ValueId outer = build::matmul(graph, again, h);                // {2, 2}
  const ValueId wide = graph.reshape(w, {4, 6});                       // of a parameter
  const ValueId sums = build::reduce_sum(graph, build::tanh(graph, wide), 1);
  const ValueId loss = build::add(
      graph, build::reduce_sum(graph, build::reduce_sum(graph, build::tanh(graph, outer), 0), 0),
      build::reduce_sum(graph, sums, 0));
  graph.keep(loss, "loss");
  graph.keep(again, "again");
  graph.enter(Phase::backward);
  const std::array wrt = {w};
  append_updates(graph, wrt, add_backward(graph, loss, wrt),
                 {.kind = OptimizerSpec::Kind::momentum});
  return graph;
}

TEST(Executors, RunViewsAlike) {
  const auto backend = reference::make_backend({});
  std::vector<std::vector<double>> eager;
  for (const Mode mode : kModes) {
    for (const InPlace in_place : {InPlace::on, InPlace::off}) {
      Rig rig(*backend, viewing_step(), in_place);
      std::vector<double> w(24), x(12);
      for (std::size_t i = 0; i < w.size(); ++i) w[i] = 0.03 * static_cast<double>(i) - 0.3;
      for (std::size_t i = 0; i < x.size(); ++i) x[i] = 0.2 * static_cast<double>(i) - 1.0;
      rig.write("w", w);
      rig.write("x", x);
      rig.write(kLearningRate, std::vector<double>{0.1});
      const auto executor = rig.executor(mode);
      std::vector<std::vector<double>> seen;
      for (int step = 0; step < 10; ++step) {
        executor->enqueue(rig.stream());
        seen.push_back(rig.read(*executor, "loss"));
        seen.push_back(rig.read(*executor, "again"));
        seen.push_back(rig.read("w"));
        seen.push_back(rig.read("w.velocity"));
      }
      if (eager.empty()) eager = seen;
      EXPECT_EQ(seen, eager) << name(mode);
      EXPECT_LT(seen[36][0], seen[0][0]);  // the loss falls, so gradients went through the views
    }
  }
}

TEST(Executors, WithoutCacheGiveTheSameBits) {
  const auto backend = reference::make_backend({});
  std::vector<std::vector<double>> with_cache;
  for (const EagerCache cache : {EagerCache::on, EagerCache::off}) {
    Rig rig(*backend, viewing_step());
    rig.write("w", std::vector<double>(24, 0.1));
    rig.write("x", std::vector<double>(12, 0.3));
    rig.write(kLearningRate, std::vector<double>{0.1});
    const auto executor = rig.executor(Mode::eager, {.eager_cache = cache});
    std::vector<std::vector<double>> seen;
    for (int step = 0; step < 10; ++step) {
      executor->enqueue(rig.stream());
      seen.push_back(rig.read(*executor, "loss"));
      seen.push_back(rig.read("w"));
    }
    EXPECT_EQ(rig.stream().counters().lookups, 10 * rig.graph().ops().size());
    if (cache == EagerCache::on) with_cache = seen;
    EXPECT_EQ(seen, with_cache);
  }
}

TEST(Executors, RefuseAnOffsetThatBreaksTheAlignment) {
  const auto backend = reference::make_backend({});
  Rig rig(*backend, mlp_step());
  for (const Mode mode : kModes) {
    EXPECT_EQ(error_of([&] { (void)rig.executor(mode, {.address_offset = 4}); }),
              "bad input: executor: an offset of 4 bytes breaks the alignment of 64");
    EXPECT_EQ(error_of([&] { (void)rig.executor(mode, {.address_offset = 128}); }), "no error");
    EXPECT_EQ(
        error_of([&] { (void)rig.executor(mode, {.address_offset = 4, .misaligned = true}); }),
        "no error");
  }
}

TEST(Recording, IsOneAtATime) {
  const auto backend = reference::make_backend({});
  Rig rig(*backend, mlp_step());
  Stream& stream = rig.stream();
  EXPECT_EQ(error_of([&] { (void)stream.end_recording(); }),
            "device: host stream: no recording was begun");
  EXPECT_EQ(error_of([&] { stream.begin_recording(RecordAs::capture); }),
            "unsupported: host stream: records a tape, nothing else");
  stream.begin_recording(RecordAs::tape);
  EXPECT_EQ(error_of([&] { stream.begin_recording(RecordAs::tape); }),
            "device: host stream: it is recording already");
  EXPECT_EQ(error_of([&] { (void)rig.executor(Mode::graph); }),
            "device: host stream: it is recording already");
  const auto planned = rig.executor(Mode::planned);
  planned->enqueue(stream);
  EXPECT_EQ(stream.counters().submitted, 0U);  // recorded, not run
  const auto recording = stream.end_recording();
  EXPECT_EQ(recording->launches(), rig.graph().ops().size());
  EXPECT_EQ(error_of([&] { (void)rig.executor(Mode::graph); }), "no error");
}

TEST(Recording, ThatIsAbandonedLeavesNothing) {
  const auto backend = reference::make_backend({});
  Rig rig(*backend, mlp_step());
  Stream& stream = rig.stream();
  stream.abandon_recording();  // none was begun
  const auto planned = rig.executor(Mode::planned);
  stream.begin_recording(RecordAs::tape);
  planned->enqueue(stream);
  stream.abandon_recording();
  planned->enqueue(stream);
  EXPECT_EQ(stream.counters().submitted, rig.graph().ops().size());  // run, not recorded
  stream.begin_recording(RecordAs::tape);
  EXPECT_EQ(stream.end_recording()->launches(), 0U);
}

TEST(Compile, NamesTheOpThatHasNoKernel) {
  const OpKind doubled =
      add_op({.name = "TestDoubled",
              .infer = [](std::span<const TensorType> in, const Attrs&,
                          TypeList& out) { out.push_back(in[0]); },
              .work = [](std::span<const TensorType>, std::span<const TensorType>,
                         const Attrs&) { return Work{}; }});
  Graph graph;
  const ValueId x = graph.declare(Role::input, {{2}, DType::f32}, "x");
  graph.keep(graph.apply1(doubled, {x}), "y");
  const auto backend = reference::make_backend({});
  EXPECT_EQ(error_of([&] { Rig rig(*backend, graph); }),
            "unsupported: reference: has no kernel for TestDoubled");
  const auto null_backend = null::make_backend({});
  EXPECT_EQ(error_of([&] { Rig rig(*null_backend, graph); }), "no error");
}

TEST(HostMemory, SaysHowMuchItCouldNotGet) {
  if (STEPSCOPE_ASAN != 0) GTEST_SKIP() << "AddressSanitizer ends the program at such a size";
  EXPECT_EQ(error_of([] { HostMemory memory(std::size_t{1} << 62); }),
            "device: host memory: no 4611686018427387904 bytes to be had");
}

}  // namespace
}  // namespace stepscope
