// Live submission: counting, order, waiting, what a failed call leaves behind; and the lock of
// captures.
// SPDX-License-Identifier: Apache-2.0
#include "backends/cuda/stream.h"

#include <atomic>
#include <memory>
#include <thread>

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

class Streams : public test::DeviceTest {};

TEST_F(Streams, RunInOrderAndCount) {
  CudaStream stream;
  DeviceMemory x(1024);
  const BodyKernel kernel(twice_plus_one(33));
  std::byte* operands[] = {x.data()};
  write(stream, x.data(), floats(33, 1));
  for (std::uint32_t op = 0; op < 4; ++op) stream.submit(kernel.bind(operands, nullptr), op);
  EXPECT_EQ(read(stream, x.data(), 33), floats(33, 31));
  EXPECT_EQ(stream.counters().submitted, 4U);
  EXPECT_EQ(stream.counters().calls_submitted, 4U);
  EXPECT_EQ(stream.counters().own_calls, 4U);
  EXPECT_EQ(cudasim::totals().kernels, 4U);
  EXPECT_EQ(cudasim::totals().graph_launches, 0U);
}

TEST_F(Streams, DoNotWaitByThemselves) {
  CudaStream stream;
  DeviceMemory x(1024);
  const BodyKernel kernel(twice_plus_one(8));
  std::byte* operands[] = {x.data()};
  stream.submit(kernel.bind(operands, nullptr), 0);
  EXPECT_EQ(cudasim::totals().kernels, 0U);
  stream.wait();
  EXPECT_EQ(cudasim::totals().kernels, 1U);
}

// Work of the legacy stream neither waits for them nor is waited for.
TEST_F(Streams, DoNotObeyTheLegacyStream) {
  CudaStream stream;
  DeviceMemory x(1024);
  const BodyKernel kernel(twice_plus_one(8));
  std::byte* operands[] = {x.data()};
  stream.submit(kernel.bind(operands, nullptr), 0);
  CUDA_OK(cudaStreamSynchronize(nullptr));
  EXPECT_EQ(cudasim::totals().kernels, 0U);
}

TEST_F(Streams, GoOnBehindAFailedLaunch) {
  CudaStream stream;
  DeviceMemory x(1024);
  const BodyKernel kernel(twice_plus_one(8));
  std::byte* operands[] = {x.data()};
  write(stream, x.data(), floats(8, 1));
  cudasim::fail_call("cudaLaunchKernelExC", cudaErrorUnknown);
  const std::string message =
      test::message_of([&] { stream.submit(kernel.bind(operands, nullptr), 0); });
  EXPECT_EQ(message.rfind("twice plus one: ", 0), 0U) << message;
  stream.submit(kernel.bind(operands, nullptr), 0);
  EXPECT_EQ(read(stream, x.data(), 8), floats(8, 3));
}

// Virtual nanoseconds of the device: more work is more time, and the same work the same.
TEST_F(Streams, TellTheTimeBetweenTwoPlaces) {
  CudaStream stream;
  DeviceMemory x(1024);
  const BodyKernel kernel(twice_plus_one(8));
  std::byte* operands[] = {x.data()};
  const auto watch = stream.make_stopwatch();
  EXPECT_EQ(test::message_of([&] { (void)watch->nanoseconds(); }),
            "stopwatch: read before it was stopped");
  EXPECT_EQ(test::message_of([&] { watch->stop(); }), "stopwatch: stopped without a start");
  std::vector<std::int64_t> times;
  for (const int kernels : {1, 1, 20}) {
    stream.wait();
    watch->start();
    for (int i = 0; i < kernels; ++i) stream.submit(kernel.bind(operands, nullptr), 0);
    watch->stop();
    times.push_back(watch->nanoseconds());
  }
  EXPECT_GT(times[0], 0);
  EXPECT_NEAR(static_cast<double>(times[1]), static_cast<double>(times[0]), 10);  // float of ms
  EXPECT_GT(times[2], 10 * times[0]);
  EXPECT_EQ(stream.counters().submitted, 22U);
}

// Straight from the host's memory and back: one copy each, and none of the stream's own.
TEST_F(Streams, TransferWithoutADetour) {
  expect_lints({cudasim::Lint::pageable_async, cudasim::Lint::pageable_async});
  const auto backend = make_backend({});
  const auto stream = backend->make_stream();
  DeviceMemory x(1024);
  const auto pinned = backend->allocate_host(32);
  std::vector<std::byte> pageable(32, std::byte{3});
  std::fill_n(pinned->data(), 32, std::byte{5});
  for (const HostPages pages : {HostPages::pinned, HostPages::pageable}) {
    const std::span<std::byte> host =
        pages == HostPages::pinned ? std::span(pinned->data(), 32) : std::span(pageable);
    const std::vector<std::byte> sent(host.begin(), host.end());
    const std::uint64_t copies = cudasim::totals().copies;
    stream->transfer_in(x.data(), host, pages);
    stream->wait();
    std::fill(host.begin(), host.end(), std::byte{0});
    stream->transfer_out(host, x.data(), pages);
    stream->wait();
    EXPECT_TRUE(std::equal(host.begin(), host.end(), sent.begin()));
    EXPECT_EQ(cudasim::totals().copies - copies, 2U);
  }
  EXPECT_EQ(stream->counters().bytes_in, 64U);
  EXPECT_EQ(stream->counters().copies_out, 2U);
  cudasim::fail_call("cudaMemcpyAsync", cudaErrorUnknown);
  EXPECT_EQ(test::message_of([&] {
              stream->transfer_in(x.data(), {pinned->data(), 32}, HostPages::pinned);
            }),
            "cudaMemcpyAsync of 32 pinned bytes to the device: unknown error (cudaErrorUnknown, "
            "999)");
}

// While one thread records, CUDA would refuse another's allocation and break the recording: the
// lock makes it wait instead.
TEST_F(Streams, AnotherThreadAllocatesWhileOneRecords) {
  CudaStream stream;
  DeviceMemory x(1024);
  std::byte* operands[] = {x.data()};
  std::thread other;
  std::atomic<bool> begun{false};
  bool started = false;
  const BodyKernel kernel([&](const Launch& call, CudaStream& cuda) {
    twice_plus_one(8)(call, cuda);
    if (std::exchange(started, true)) return;
    other = std::thread([&] {
      begun = true;
      DeviceMemory more(256);
      PinnedMemory pinned;
      pinned.reserve(256);
    });
    while (!begun) std::this_thread::yield();
    for (int i = 0; i < 1000; ++i) std::this_thread::yield();  // its chance to break in
  });
  const BodyKernel warm(twice_plus_one(8));
  stream.submit(warm.bind(operands, nullptr), 0);
  stream.begin_recording(RecordAs::capture);
  stream.submit(kernel.bind(operands, nullptr), 0);
  std::unique_ptr<Recording> recording;
  EXPECT_EQ(test::message_of([&] { recording = stream.end_recording(); }), "");
  other.join();
}

// Nor may it choose, load and try a kernel meanwhile.
TEST_F(Streams, AnotherThreadLowersWhileOneRecords) {
  const auto backend = make_backend({});
  CudaStream stream;
  DeviceMemory x(1024);
  std::byte* operands[] = {x.data()};
  std::thread other;
  std::atomic<bool> begun{false};
  bool started = false;
  std::string refusal;
  const BodyKernel kernel([&](const Launch& call, CudaStream& cuda) {
    twice_plus_one(8)(call, cuda);
    if (std::exchange(started, true)) return;
    other = std::thread([&] {
      begun = true;
      const TensorType square{{2, 2}, DType::f32};
      refusal = test::message_of([&] {
        backend->lower({.kind = OpKind::MatMul,
                        .attrs = MatMulAttrs{},
                        .in = {square, square},
                        .out = {square}});
      });
    });
    while (!begun) std::this_thread::yield();
    for (int i = 0; i < 1000; ++i) std::this_thread::yield();  // its chance to break in
    EXPECT_EQ(cudasim::calls_of("cublasLtMatmulAlgoGetHeuristic"), 0U);
  });
  const BodyKernel warm(twice_plus_one(8));
  stream.submit(warm.bind(operands, nullptr), 0);
  stream.begin_recording(RecordAs::capture);
  stream.submit(kernel.bind(operands, nullptr), 0);
  std::unique_ptr<Recording> recording;
  EXPECT_EQ(test::message_of([&] { recording = stream.end_recording(); }), "");
  other.join();
  EXPECT_EQ(refusal, "");
}

}  // namespace
}  // namespace stepscope::cuda
