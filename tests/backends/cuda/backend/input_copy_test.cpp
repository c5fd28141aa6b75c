// Inputs that each replay copies itself: the same bits as copies outside, exact counts, and a
// source that is not written again before it was read.
// SPDX-License-Identifier: Apache-2.0
#include <memory>
#include <span>

#include "backends/cuda/cuda.h"
#include "backends/cuda/recording.h"
#include "backends/execution/reconcile.h"
#include "backends/execution/recording_dot.h"
#include "graph/passes/fusion.h"
#include "tests/backends/cuda/backend/bodies.h"
#include "tests/backends/cuda/backend/fixture.h"
#include "tests/backends/execution/rig.h"
#include "tests/backends/execution/training.h"

namespace stepscope::cuda {
namespace {

using stepscope::test::Trace;
using test::BodyKernel;
using test::floats;
using test::read;
using test::twice_plus_one;

constexpr std::int64_t kRows = 5, kFewer = 2;

struct Trainee {
  Trainee(RecordAs record_as, InputCopy copy, bool fused, Mode mode = Mode::graph)
      : backend(make_backend({.record_as = record_as})),
        session(*backend, make_model("mlp:9-7-3", {.rate = 0.05}),
                {.mode = mode,
                 .step_batches = {kRows, kFewer},
                 .evaluation_batches = {kRows},
                 .seed = 7,
                 .passes = passes_for(parse_fusion(fused ? "on" : "off"), backend->wishes()),
                 .input_copy = copy}) {}

  std::unique_ptr<Backend> backend;
  Session session;
};

class InputCopies : public testing::WithParamInterface<RecordAs>, public test::DeviceTest {
 protected:
  // Full batches that nobody waits for, a partial one, the validation, and full ones again.
  static Trace trained(InputCopy copy, bool fused, Mode mode = Mode::graph) {
    Trainee run(GetParam(), copy, fused, mode);
    run.session.warm_up(2);
    Trace trace;
    stepscope::test::train(run.session, kRows, 3, trace);
    stepscope::test::train(run.session, kFewer, 2, trace);
    stepscope::test::evaluate(run.session, kRows, trace);
    stepscope::test::train(run.session, kRows, 2, trace);
    return trace;
  }
};

TEST_P(InputCopies, InsideAndOutsideTrainEqually) {
  for (const cudasim::Schedule schedule :
       {cudasim::Schedule::lazy, cudasim::Schedule::eager, cudasim::Schedule::others_first}) {
    cudasim::reset({.schedule = schedule});
    for (const bool fused : {false, true}) {
      const Trace outside = trained(InputCopy::outside, fused);
      EXPECT_EQ(first_difference(outside, trained(InputCopy::inside, fused)), "");
    }
    const Trace eager = trained(InputCopy::outside, false, Mode::eager);
    EXPECT_EQ(first_difference(eager, trained(InputCopy::inside, false)), "");
    EXPECT_EQ(first_difference(eager, trained(InputCopy::inside, false, Mode::eager)), "");
    EXPECT_TRUE(cudasim::finish().empty());
  }
}

// Each replay copies both inputs; loading a batch makes no call of CUDA but a wait.
TEST_P(InputCopies, AreCountedWithTheReplay) {
  Trainee run(GetParam(), InputCopy::inside, false);
  Session& session = run.session;
  const auto rows = stepscope::test::make_rows(session.model(), kRows, 1);
  session.stream().wait();  // for the initial values
  const cudasim::Totals before = cudasim::totals();
  const Counters counted_before = session.stream().counters();
  for (int step = 0; step < 3; ++step) {
    stepscope::test::load(session, rows);
    EXPECT_EQ(cudasim::totals().copies - before.copies, 2U * static_cast<unsigned>(step));
    session.enqueue_step(kRows);
    session.stream().wait();
  }
  const Counters counted = session.stream().counters() - counted_before;
  EXPECT_EQ(counted.copies_in, 6U);
  EXPECT_EQ(counted.copies_replayed, 6U);
  EXPECT_EQ(counted.bytes_in, 3U * (kRows * 9 * 4 + kRows * 4));
  const Program& program = session.step(kRows).program();
  const cudasim::Totals after = cudasim::totals();
  std::uint64_t calls = 0;
  for (const Kernel* kernel : program.kernels) calls += kernel->calls();
  EXPECT_EQ(after.copies - before.copies, 6U);
  EXPECT_EQ(after.nodes - before.nodes, 3 * (calls + 2));
  EXPECT_EQ(after.graph_launches - before.graph_launches, 3U);
  reconcile(program, counted, session.stream().log(),
            {.mode = Mode::graph, .steps = 3, .input_copy = InputCopy::inside});
  const auto& recording = static_cast<const CudaRecording&>(*session.step(kRows).recording());
  EXPECT_EQ(recording.copies(), 2U);
  EXPECT_EQ(recording.node_count(), calls + 2);
  const std::string dot = to_dot(recording, *program.graph);
  EXPECT_NE(dot.find("n1 [label=\"input_copy\\na copy of 20 bytes\""), std::string::npos) << dot;
  EXPECT_NE(dot.find("n1 -> n2;"), std::string::npos) << dot;
  EXPECT_NE(dot.find("n2 [label=\"op 0 MatMul\\nforward\\nlibrary: "), std::string::npos) << dot;
}

// A step is the launch of its graph and the record of one event, whatever the number of inputs; a
// batch is loaded with a wait for that event for each input, and no other call.
TEST_P(InputCopies, LeaveTwoCallsOfAStep) {
  Trainee run(GetParam(), InputCopy::inside, true);
  Session& session = run.session;
  const auto rows = stepscope::test::make_rows(session.model(), kRows, 1);
  const auto all_calls = [] {
    std::uint64_t calls = 0;
#define CALL(name, library, legality) calls += cudasim::calls_of(#name);
#include "backends/cuda/sim/calls.inc"
    return calls - cudasim::calls_of("cudaStreamSynchronize");  // debug builds wait for each step
  };
  stepscope::test::load(session, rows);
  session.enqueue_step(kRows);
  for (int step = 0; step < 3; ++step) {
    const std::uint64_t before = all_calls(), waits = cudasim::calls_of("cudaEventSynchronize");
    stepscope::test::load(session, rows);
    EXPECT_EQ(all_calls() - before, 2U);  // each input's own source
    EXPECT_EQ(cudasim::calls_of("cudaEventSynchronize") - waits, 2U);
    const std::uint64_t launches = cudasim::calls_of("cudaGraphLaunch");
    const std::uint64_t events = cudasim::calls_of("cudaEventRecord");
    session.enqueue_step(kRows);
    EXPECT_EQ(all_calls() - before, 4U);
    EXPECT_EQ(cudasim::calls_of("cudaGraphLaunch") - launches, 1U);
    EXPECT_EQ(cudasim::calls_of("cudaEventRecord") - events, 1U);
  }
}

// Ten batches through one source, none of them waited for by us; what each replay made of its batch
// is kept apart.
TEST_P(InputCopies, AreNotOverwrittenBeforeTheyAreRead) {
  CudaStream stream;
  DeviceMemory x(1024), kept(10 * 256);
  const BodyKernel plain(twice_plus_one(8));
  std::byte* operands[] = {x.data()};
  stream.submit(plain.bind(operands, nullptr), 0);
  stream.wait();
  const auto source = stream.make_copy_source(32);
  stream.begin_recording(GetParam());
  stream.record_copy(x.data(), *source, 32);
  stream.submit(plain.bind(operands, nullptr), 0);
  const auto recording = stream.end_recording();
  for (std::size_t i = 0; i < 10; ++i) {
    const std::vector<float> values = floats(8, static_cast<float>(i));
    std::ranges::copy(std::as_bytes(std::span(values)), source->refill().begin());
    recording->replay(stream);
    CUDA_OK(cudaMemcpyAsync(kept.data() + 256 * i, x.data(), 32, cudaMemcpyDeviceToDevice,
                            stream.live()));
  }
  for (std::size_t i = 0; i < 10; ++i) {
    const auto expected = static_cast<float>(2 * i + 1);
    EXPECT_EQ(read(stream, kept.data() + 256 * i, 8), floats(8, expected)) << i;
  }
  EXPECT_EQ(stream.counters().copies_replayed, 10U);
}

// The event tells when the source may be written again; without it the whole replay is waited for.
TEST_P(InputCopies, WhoseEventFailsLeaveTheSourceUsable) {
  CudaStream stream;
  DeviceMemory x(1024);
  const auto source = stream.make_copy_source(32);
  stream.begin_recording(GetParam());
  stream.record_copy(x.data(), *source, 32);
  const auto recording = stream.end_recording();
  const std::vector<float> ones = floats(8, 1), twos = floats(8, 2);
  std::ranges::copy(std::as_bytes(std::span(ones)), source->refill().begin());
  cudasim::fail_call("cudaEventRecord", cudaErrorUnknown);
  EXPECT_EQ(test::message_of([&] { recording->replay(stream); }),
            "input_copy: cudaEventRecord behind a replay: unknown error (cudaErrorUnknown, 999)");
  EXPECT_EQ(cudasim::totals().waiting, 0U);
  std::ranges::copy(std::as_bytes(std::span(twos)), source->refill().begin());
  EXPECT_EQ(read(stream, x.data(), 8), ones);
  recording->replay(stream);
  EXPECT_EQ(read(stream, x.data(), 8), twos);
}

TEST_P(InputCopies, StandInFrontOfTheLaunches) {
  CudaStream stream;
  DeviceMemory x(1024);
  const BodyKernel plain(twice_plus_one(8));
  std::byte* operands[] = {x.data()};
  const auto source = stream.make_copy_source(32);
  EXPECT_EQ(test::message_of([&] { stream.record_copy(x.data(), *source, 32); }),
            "record_copy: no recording was begun");
  stream.submit(plain.bind(operands, nullptr), 0);
  stream.begin_recording(GetParam());
  EXPECT_EQ(test::message_of([&] { stream.record_copy(x.data(), *source, 33); }),
            "record_copy: 33 bytes asked for, its source has 32");
  stream.submit(plain.bind(operands, nullptr), 0);
  EXPECT_EQ(test::message_of([&] { stream.record_copy(x.data(), *source, 32); }),
            "cuda: inputs are copied in front of the launches, and 1 are recorded already");
  (void)stream.end_recording();
}

TEST_P(InputCopies, ComeFromSourcesOfTheirOwnStream) {
  CudaStream stream, other;
  DeviceMemory x(1024);
  const auto source = other.make_copy_source(32);
  stream.begin_recording(GetParam());
  EXPECT_EQ(test::message_of([&] { stream.record_copy(x.data(), *source, 32); }),
            "record_copy: the source was made by another stream; take one of this stream");
  stream.abandon_recording();
}

// The inputs lie in the source of another stream, so the copies are refused: that is what is told,
// and no graph is made in order to be dropped.
TEST_P(InputCopies, ThatFailAbandonTheRecording) {
  const auto backend = make_backend({.record_as = GetParam()});
  stepscope::test::Rig rig(*backend, make_model("mlp:9-7-3").step(kRows));
  const auto other = backend->make_stream();
  InputSource inputs(*backend, *other, rig.memory().layout());
  const std::uint64_t captures = cudasim::calls_of("cudaStreamBeginCapture");
  cudasim::fail_call("cudaStreamBeginCapture", cudaErrorUnknown);
  EXPECT_EQ(test::message_of([&] { (void)rig.executor(Mode::graph, {.inputs = &inputs}); }),
            "record_copy: the source was made by another stream; take one of this stream");
  EXPECT_EQ(cudasim::calls_of("cudaStreamBeginCapture"), captures);
  EXPECT_NE(test::message_of([&] { (void)rig.executor(Mode::graph); }), "");  // it still waited
  rig.executor(Mode::graph)->enqueue(rig.stream());
  rig.stream().wait();
}

TEST_P(InputCopies, ThatCannotBeRecordedSayTheirPhase) {
  CudaStream stream;
  DeviceMemory x(1024);
  const auto source = stream.make_copy_source(32);
  const bool nodes = GetParam() == RecordAs::nodes;
  const std::string call = nodes ? "cudaGraphAddMemcpyNode1D" : "cudaMemcpyAsync";
  // The rehearsal is a capture in either case.
  cudasim::fail_call(call, cudaErrorUnknown, nodes ? 1 : 2);
  stream.begin_recording(GetParam());
  stream.record_copy(x.data(), *source, 32);
  EXPECT_EQ(test::message_of([&] { (void)stream.end_recording(); }),
            "cuda: recording input_copy of 32 bytes: " + call +
                ": unknown error (cudaErrorUnknown, 999)");
  stream.begin_recording(GetParam());
  stream.record_copy(x.data(), *source, 32);
  const auto recording = stream.end_recording();
  recording->replay(stream);
  stream.wait();
}

INSTANTIATE_TEST_SUITE_P(As, InputCopies, testing::Values(RecordAs::capture, RecordAs::nodes),
                         [](const auto& each) {
                           return each.param == RecordAs::capture ? "capture" : "nodes";
                         });

}  // namespace
}  // namespace stepscope::cuda
