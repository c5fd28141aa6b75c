// Recordings by capture and of explicit nodes: what they hold, what their replays do, what they
// refuse.
// SPDX-License-Identifier: Apache-2.0
#include "backends/cuda/recording.h"

#include <memory>

#include "backends/cuda/cuda.h"
#include "tests/backends/cuda/backend/bodies.h"
#include "tests/backends/cuda/backend/fixture.h"

namespace stepscope::cuda {
namespace {

using test::BodyKernel;
using test::floats;
using test::read;
using test::twice_plus_one;
using test::write;

constexpr int kElements = 40;  // two blocks

class Recordings : public testing::WithParamInterface<RecordAs>, public test::DeviceTest {
 protected:
  // Runs the kernel on x once, so that a recording does not meet it first.
  void warm(CudaStream& stream, std::byte* x) {
    std::byte* operands[] = {x};
    stream.submit(plain_.bind(operands, nullptr), 0);
    stream.wait();
  }

  std::unique_ptr<Recording> recorded(CudaStream& stream, std::span<const Launch> launches) {
    stream.begin_recording(GetParam());
    for (std::size_t i = 0; i < launches.size(); ++i) {
      stream.submit(launches[i], static_cast<std::uint32_t>(i));
    }
    return stream.end_recording();
  }

  // Records plain, `refused`, plain; the message. Afterwards the stream still records and runs.
  std::string refusal(const BodyKernel& refused) {
    CudaStream stream;
    DeviceMemory x(4096);
    warm(stream, x.data());
    std::byte* operands[] = {x.data()};
    const Launch plain = plain_.bind(operands, nullptr);
    const std::string message = test::message_of([&] {
      recorded(stream, std::vector{plain, refused.bind(operands, nullptr), plain});
    });
    write(stream, x.data(), floats(kElements, 1));
    stream.submit(plain, 0);
    const auto recording = recorded(stream, std::vector{plain});
    recording->replay(stream);
    EXPECT_EQ(read(stream, x.data(), kElements), floats(kElements, 7));
    return message;
  }

  BodyKernel plain_{twice_plus_one(kElements)};
};

TEST_P(Recordings, RunNothingUntilTheyAreReplayed) {
  CudaStream stream;
  DeviceMemory x(4096);
  warm(stream, x.data());
  write(stream, x.data(), floats(kElements, 0));
  std::byte* operands[] = {x.data()};
  const Launch launch = plain_.bind(operands, nullptr);
  const Counters before = stream.counters();
  const auto recording = recorded(stream, std::vector{launch, launch, launch});
  EXPECT_EQ(stream.counters(), before);
  EXPECT_EQ(recording->launches(), 3U);
  EXPECT_EQ(read(stream, x.data(), kElements), floats(kElements, 0));
  const std::uint64_t kernels = cudasim::totals().kernels;
  for (int i = 0; i < 2; ++i) recording->replay(stream);
  EXPECT_EQ(read(stream, x.data(), kElements), floats(kElements, 63));
  const Counters counted = stream.counters() - before;
  EXPECT_EQ(counted.replays, 2U);
  EXPECT_EQ(counted.submitted, 0U);
  EXPECT_EQ(counted.calls_replayed, 6U);
  EXPECT_EQ(counted.own_calls, 6U);
  EXPECT_EQ(cudasim::totals().graph_launches, 2U);
  EXPECT_EQ(cudasim::totals().nodes, 6U);
  EXPECT_EQ(cudasim::totals().kernels, kernels + 6);
}

TEST_P(Recordings, TellWhatTheyTook) {
  CudaStream stream;
  DeviceMemory x(4096);
  warm(stream, x.data());
  std::byte* operands[] = {x.data()};
  const auto recording = recorded(stream, std::vector{plain_.bind(operands, nullptr)});
  EXPECT_GE(recording->times().instantiate_ns.value_or(-1), 0);
  EXPECT_GE(recording->times().upload_ns.value_or(-1), 0);
  EXPECT_TRUE(recording->bytes().has_value());
  EXPECT_EQ(cudasim::calls_of("cudaGraphUpload"), 1U);
  const auto& cuda = static_cast<const CudaRecording&>(*recording);
  ASSERT_EQ(cuda.calls().size(), 1U);
  EXPECT_EQ(cuda.calls().front().nodes, 1U);
  EXPECT_EQ(cuda.node_count(), 1U);
}

TEST_P(Recordings, LogTheCallsOfEachReplay) {
  CudaStream stream;
  DeviceMemory x(4096);
  warm(stream, x.data());
  std::byte* operands[] = {x.data()};
  const Launch launch = plain_.bind(operands, nullptr);
  const auto recording = recorded(stream, std::vector{launch, launch});
  stream.clear_log();
  recording->replay(stream);
  const std::vector<LogEntry> log = stream.log();
  ASSERT_EQ(log.size(), 2U);
  for (std::uint32_t op = 0; op < 2; ++op) {
    EXPECT_EQ(log[op].op, op);
    EXPECT_EQ(log[op].kernel, &plain_);
    EXPECT_EQ(log[op].by, CallBy::own);
  }
}

TEST_P(Recordings, TellTheirNodes) {
  const auto backend = make_backend({.record_as = GetParam()});
  const auto stream = backend->make_stream();
  const TensorType square{{2, 2}, DType::f32};
  const auto product = backend->lower(
      {.kind = OpKind::MatMul, .attrs = MatMulAttrs{}, .in = {square, square}, .out = {square}});
  DeviceMemory memory(4096), scratch(product->needs().scratch);
  std::byte* operands[] = {memory.data(), memory.data() + 1024, memory.data() + 2048};
  warm(static_cast<CudaStream&>(*stream), memory.data());
  const auto source = stream->make_copy_source(16);
  stream->begin_recording(GetParam());
  stream->record_copy(memory.data(), *source, 16);
  stream->submit(plain_.bind(operands, nullptr), 0);
  stream->submit(product->bind(operands, scratch.data()), 1);
  const auto recording = stream->end_recording();
  const std::vector<RecordedNode> nodes = recording->nodes();
  ASSERT_EQ(nodes.size(), 3U);
  EXPECT_FALSE(nodes[0].op || nodes[0].by);
  EXPECT_EQ(nodes[0].what, "a copy of 16 bytes");
  EXPECT_EQ(nodes[1].op, 0U);
  EXPECT_EQ(nodes[1].by, CallBy::own);
  EXPECT_EQ(nodes[1].what, "a grid of 2x1x1 with blocks of 32x1x1 and 0 bytes");
  EXPECT_EQ(nodes[2].op, 1U);
  EXPECT_EQ(nodes[2].by, CallBy::library);
}

TEST_P(Recordings, MayBeEmpty) {
  CudaStream stream;
  const auto recording = recorded(stream, {});
  recording->replay(stream);
  stream.wait();
  EXPECT_EQ(cudasim::totals().nodes, 0U);
}

TEST_P(Recordings, ALaunchMayMakeSeveralCalls) {
  CudaStream stream;
  DeviceMemory x(4096);
  warm(stream, x.data());
  const BodyKernel twice(
      [](const Launch& call, CudaStream& cuda) {
        twice_plus_one(kElements)(call, cuda);
        twice_plus_one(kElements)(call, cuda);
      },
      2);
  write(stream, x.data(), floats(kElements, 0));
  std::byte* operands[] = {x.data()};
  const auto recording = recorded(stream, std::vector{twice.bind(operands, nullptr)});
  recording->replay(stream);
  EXPECT_EQ(stream.counters().calls_replayed, 2U);
  EXPECT_EQ(read(stream, x.data(), kElements), floats(kElements, 3));
}

// A product between two kernels of our own: the nodes of a library follow, and are followed.
TEST_P(Recordings, HoldLibraryCallsInOrder) {
  const auto backend = make_backend({.record_as = GetParam()});
  const auto made = backend->make_stream();
  auto& stream = static_cast<CudaStream&>(*made);
  const TensorType square{{2, 2}, DType::f32};
  const auto product = backend->lower(
      {.kind = OpKind::MatMul, .attrs = MatMulAttrs{}, .in = {square, square}, .out = {square}});
  DeviceMemory memory(4096);
  std::byte* operands[] = {memory.data(), memory.data() + 1024, memory.data() + 2048};
  DeviceMemory scratch(product->needs().scratch);
  const BodyKernel own(twice_plus_one(4));
  std::byte* last[] = {operands[2]};
  const std::vector launches{own.bind(operands, nullptr), product->bind(operands, scratch.data()),
                             own.bind(last, nullptr)};
  std::vector<std::vector<float>> results;
  std::unique_ptr<Recording> recording;
  for (const bool live : {true, false}) {
    write(stream, operands[0], {1, 2, 3, 4});
    write(stream, operands[1], {1, 0, 0, 2});
    if (live) {
      for (std::uint32_t i = 0; i < 3; ++i) stream.submit(launches[i], i);
    } else {
      recording = recorded(stream, launches);
      recording->replay(stream);
    }
    results.push_back(read(stream, operands[2], 4));
  }
  EXPECT_EQ(results[0], (std::vector<float>{7, 21, 15, 37}));
  EXPECT_EQ(results[1], results[0]);
  EXPECT_EQ(stream.counters().calls_replayed, 3U);
  EXPECT_EQ(stream.counters().library_calls, 2U);
}

// Replays that are under way keep the executable; what they use is freed behind it.
TEST_P(Recordings, AreDestroyedBehindTheirReplays) {
  CudaStream stream;
  auto x = std::make_unique<DeviceMemory>(4096);
  warm(stream, x->data());
  std::byte* operands[] = {x->data()};
  auto recording = recorded(stream, std::vector{plain_.bind(operands, nullptr)});
  recording->replay(stream);
  EXPECT_GT(cudasim::totals().waiting, 0U);
  recording.reset();
  EXPECT_EQ(cudasim::totals().waiting, 0U);
  x.reset();
}

// Of a stream that is gone, too.
TEST_P(Recordings, MayOutliveTheirStream) {
  DeviceMemory x(4096);
  std::byte* operands[] = {x.data()};
  std::unique_ptr<Recording> recording;
  {
    CudaStream stream;
    warm(stream, x.data());
    recording = recorded(stream, std::vector{plain_.bind(operands, nullptr)});
    recording->replay(stream);
  }
  recording.reset();
}

TEST_P(Recordings, AreBegunAndEndedInTurn) {
  CudaStream stream;
  EXPECT_EQ(test::message_of([&] { stream.end_recording(); }), "cuda: no recording was begun");
  EXPECT_EQ(test::message_of([&] { stream.begin_recording(RecordAs::tape); }),
            "cuda: a recording is a graph, by capture or of nodes; it has no tape");
  stream.begin_recording(GetParam());
  EXPECT_EQ(test::message_of([&] { stream.begin_recording(GetParam()); }),
            "cuda: a recording was begun and not ended");
  EXPECT_EQ(stream.end_recording()->launches(), 0U);
}

// --- refusals: each with the op's name, and the stream goes on -----------------------------------

constexpr std::string_view kOp = "cuda: recording op 1 Relu: ";

bool tells(const std::string& message, std::string_view reason) {
  return message.rfind(std::string(kOp) + std::string(reason), 0) == 0;
}

TEST_P(Recordings, RefuseALaunchThatAllocates) {
  const std::string message = refusal(BodyKernel([](const Launch& call, CudaStream& stream) {
    stream.report(call, CallBy::own);
    DeviceMemory more(256);
    twice_plus_one(kElements)(call, stream);
  }));
  EXPECT_TRUE(tells(message, "cudaMalloc of 256 bytes")) << message;
  EXPECT_NE(message.find("cudaErrorStreamCaptureUnsupported"), std::string::npos) << message;
}

TEST_P(Recordings, RefuseALaunchThatHidesAnAllocation) {
  const std::string message = refusal(BodyKernel([](const Launch& call, CudaStream& stream) {
    stream.report(call, CallBy::own);
    check_cuda(test::run_twice_plus_one(stream.submission(),
                                        reinterpret_cast<float*>(call.operands[0]), kElements),
               "twice plus one");
    void* data = nullptr;
    forget(cudaMalloc(&data, 256));
  }));
  EXPECT_TRUE(tells(message, "it made the capture invalid: a step may not allocate")) << message;
}

TEST_P(Recordings, RefuseNodesOfMemory) {
  const std::string message = refusal(BodyKernel([](const Launch& call, CudaStream& stream) {
    stream.report(call, CallBy::own);
    void* data = nullptr;
    check_cuda(cudaMallocAsync(&data, 256, stream.submission().stream), "cudaMallocAsync");
    check_cuda(cudaFreeAsync(data, stream.submission().stream), "cudaFreeAsync");
  }));
  EXPECT_TRUE(tells(message, "it adds a node that is a release of memory")) << message;
}

TEST_P(Recordings, RefuseCopies) {
  const std::string message = refusal(BodyKernel([](const Launch& call, CudaStream& stream) {
    stream.report(call, CallBy::own);
    check_cuda(cudaMemcpyAsync(call.operands[0], call.operands[0] + 1024, 16,
                               cudaMemcpyDeviceToDevice, stream.submission().stream),
               "cudaMemcpyAsync");
  }));
  EXPECT_TRUE(tells(message, "it adds a node that is a copy; a step's nodes are kernels"))
      << message;
}

TEST_P(Recordings, RefuseALaunchThatWaits) {
  for (const bool device : {false, true}) {
    const std::string message =
        refusal(BodyKernel([device](const Launch& call, CudaStream& stream) {
          stream.report(call, CallBy::own);
          check_cuda(
              device ? cudaDeviceSynchronize() : cudaStreamSynchronize(stream.submission().stream),
              "the wait");
        }));
    EXPECT_TRUE(tells(message, "the wait: ")) << message;
    EXPECT_NE(message.find("cudaErrorStreamCaptureUnsupported"), std::string::npos) << message;
  }
}

TEST_P(Recordings, RefuseALaunchThatStraysToTheLegacyStream) {
  const std::string message = refusal(BodyKernel([](const Launch& call, CudaStream& stream) {
    stream.report(call, CallBy::own);
    check_cuda(
        test::stray_twice_plus_one(nullptr, reinterpret_cast<float*>(call.operands[0]), kElements),
        "the stray");
  }));
  EXPECT_TRUE(tells(message, "the stray: ")) << message;
  EXPECT_NE(message.find("cudaErrorStreamCaptureImplicit"), std::string::npos) << message;
}

// To a stream that obeys nobody: only the missing node shows it.
TEST_P(Recordings, RefuseALaunchThatStraysToAnotherStream) {
  const std::string message = refusal(BodyKernel([](const Launch& call, CudaStream& stream) {
    stream.report(call, CallBy::own);
    check_cuda(test::stray_twice_plus_one(stream.live(), reinterpret_cast<float*>(call.operands[0]),
                                          kElements),
               "the stray");
  }));
  EXPECT_TRUE(tells(message, "a call of it adds no node: replays would leave it out")) << message;
}

// A second stream pulled in and never joined: a node that no replay would wait for.
TEST_P(Recordings, RefuseNodesBesideTheChain) {
  StreamHandle side;
  EventHandle forked;
  CUDA_OK(cudaStreamCreateWithFlags(side.fill(), cudaStreamNonBlocking));
  CUDA_OK(cudaEventCreateWithFlags(forked.fill(), cudaEventDisableTiming));
  const std::string message = refusal(BodyKernel([&](const Launch& call, CudaStream& stream) {
    auto* x = reinterpret_cast<float*>(call.operands[0]);
    check_cuda(cudaEventRecord(forked.value(), stream.submission().stream), "cudaEventRecord");
    check_cuda(cudaStreamWaitEvent(side.value(), forked.value(), 0), "cudaStreamWaitEvent");
    twice_plus_one(kElements)(call, stream);
    check_cuda(test::stray_twice_plus_one(side.value(), x, kElements), "the stray");
  }));
  EXPECT_TRUE(tells(message, "it adds 1 nodes beside the chain")) << message;
}

// Its edge in the graph is not a full one.
TEST_P(Recordings, RefuseALaunchThatMayStartTooEarly) {
  const std::string message = refusal(BodyKernel([](const Launch& call, CudaStream& stream) {
    stream.report(call, CallBy::own);
    check_cuda(
        test::programmatic_twice_plus_one(stream.submission().stream,
                                          reinterpret_cast<float*>(call.operands[0]), kElements),
        "the programmatic launch");
  }));
  EXPECT_TRUE(tells(message, "it adds a programmatic launch, which may start before the one ahead"))
      << message;
}

// It waits on the device for what it reads: newer libraries do.
TEST_P(Recordings, TakeALibrarysLaunchThatMayStartEarly) {
  CudaStream stream;
  DeviceMemory memory(kElements * sizeof(float));
  const BodyKernel library([](const Launch& call, CudaStream& to) {
    to.report(call, CallBy::library);
    to.library_call([&](cudaStream_t live) {
      check_cuda(test::programmatic_twice_plus_one(live, reinterpret_cast<float*>(call.operands[0]),
                                                   kElements),
                 "the programmatic launch");
    });
  });
  std::byte* operands[] = {memory.data()};
  warm(stream, operands[0]);
  stream.begin_recording(GetParam());
  stream.submit(plain_.bind(operands, nullptr), 0);
  stream.submit(library.bind(operands, nullptr), 1);
  const auto recording = stream.end_recording();
  ASSERT_EQ(recording->nodes().size(), 2U);
  EXPECT_EQ(recording->nodes()[1].what, "a kernel of its own, launched early");
}

// A library's kernel that adds up where it stores begins with a fill.
TEST_P(Recordings, TakeALibrarysFills) {
  CudaStream stream;
  DeviceMemory memory(kElements * sizeof(float));
  const BodyKernel library([](const Launch& call, CudaStream& to) {
    to.report(call, CallBy::library);
    to.library_call([&](cudaStream_t live) {
      check_cuda(cudaMemsetAsync(call.operands[0], 0, kElements * sizeof(float), live), "the fill");
      Submission there{.stream = live};
      check_cuda(
          test::run_twice_plus_one(there, reinterpret_cast<float*>(call.operands[0]), kElements),
          "twice plus one");
    });
  });
  std::byte* operands[] = {memory.data()};
  warm(stream, operands[0]);
  write(stream, operands[0], floats(kElements, 5));
  stream.begin_recording(GetParam());
  stream.submit(plain_.bind(operands, nullptr), 0);
  stream.submit(library.bind(operands, nullptr), 1);
  stream.submit(plain_.bind(operands, nullptr), 2);
  const auto recording = stream.end_recording();
  const std::vector<RecordedNode> nodes = recording->nodes();
  ASSERT_EQ(nodes.size(), 4U);
  EXPECT_EQ(nodes[1].what, "a fill of its own");
  EXPECT_EQ(nodes[1].by, CallBy::library);
  EXPECT_EQ(nodes[2].what, "a kernel of its own");
  recording->replay(stream);
  EXPECT_EQ(read(stream, operands[0], kElements), floats(kElements, 3));
  EXPECT_EQ(stream.counters().library_calls, 1U);
  EXPECT_EQ(stream.counters().own_calls, 3U);
}

TEST_P(Recordings, RefuseFillsOfOwnCalls) {
  const std::string message = refusal(BodyKernel([](const Launch& call, CudaStream& stream) {
    stream.report(call, CallBy::own);
    stream.library_call([&](cudaStream_t live) {
      check_cuda(cudaMemsetAsync(call.operands[0], 0, 16, live), "the fill");
    });
  }));
  EXPECT_TRUE(tells(message, "it adds a node that is a fill; a step's nodes are kernels"))
      << message;
}

// A fill in the rehearsal and a kernel in the graph: as many nodes, of other kinds.
TEST_P(Recordings, RefuseAFillWhereAKernelWasRehearsed) {
  const auto runs = std::make_shared<int>(0);
  const std::string message = refusal(BodyKernel([runs](const Launch& call, CudaStream& stream) {
    stream.report(call, CallBy::library);
    stream.library_call([&](cudaStream_t live) {
      auto* x = reinterpret_cast<float*>(call.operands[0]);
      Submission there{.stream = live};
      check_cuda(++*runs == 1 ? cudaMemsetAsync(x, 0, 16, live)
                              : test::run_twice_plus_one(there, x, kElements),
                 "either");
    });
  }));
  EXPECT_TRUE(tells(message,
                    "its calls are not those of the rehearsal: a fill of its own, and in the graph "
                    "a kernel of its own"))
      << message;
}

TEST_P(Recordings, RefuseACallThatWasNotReported) {
  const std::string message = refusal(BodyKernel([](const Launch& call, CudaStream& stream) {
    check_cuda(test::run_twice_plus_one(stream.submission(),
                                        reinterpret_cast<float*>(call.operands[0]), kElements),
               "twice plus one");
  }));
  EXPECT_TRUE(tells(message, "it adds 1 nodes before it reports a call")) << message;
}

TEST_P(Recordings, RefuseAnotherNumberOfCalls) {
  const std::string message = refusal(BodyKernel(twice_plus_one(kElements), 2));
  EXPECT_TRUE(tells(message, "it made 1 calls, its kernel promised 2")) << message;
}

// The second time it launches other blocks: the graph is not what was rehearsed.
TEST_P(Recordings, RefuseWhatDiffersFromTheRehearsal) {
  const auto runs = std::make_shared<unsigned>(0);
  const std::string message = refusal(BodyKernel([runs](const Launch& call, CudaStream& stream) {
    stream.report(call, CallBy::own);
    ++*runs;
    check_cuda(
        test::run_twice_plus_one(stream.submission(), reinterpret_cast<float*>(call.operands[0]),
                                 kElements, 32 * *runs),
        "twice plus one");
  }));
  EXPECT_TRUE(tells(message,
                    "its calls are not those of the rehearsal: a grid of 2x1x1 with "
                    "blocks of 32x1x1 and 0 bytes, and in the graph a grid of 1x1x1"))
      << message;
}

TEST_P(Recordings, TellWhichOpForThoseWhoKnowMoreOfIt) {
  CudaStream stream;
  DeviceMemory x(4096);
  warm(stream, x.data());
  std::byte* operands[] = {x.data()};
  const BodyKernel nothing(
      [](const Launch& call, CudaStream& cuda) { cuda.report(call, CallBy::own); });
  try {
    recorded(stream, std::vector{plain_.bind(operands, nullptr), nothing.bind(operands, nullptr)});
    FAIL() << "was recorded";
  } catch (const RecordingError& error) {
    EXPECT_EQ(error.op(), 1U);
    EXPECT_EQ(error.fault(), Fault::device);
    EXPECT_EQ(error.reason().rfind("cuda: recording: a call of it adds no node", 0), 0U);
  }
}

INSTANTIATE_TEST_SUITE_P(As, Recordings, testing::Values(RecordAs::capture, RecordAs::nodes),
                         [](const auto& each) {
                           return each.param == RecordAs::capture ? "capture" : "nodes";
                         });

}  // namespace
}  // namespace stepscope::cuda
