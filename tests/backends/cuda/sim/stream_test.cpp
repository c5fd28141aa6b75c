// Streams: what follows what, under each schedule; legacy, per-thread and non-blocking streams.
// SPDX-License-Identifier: Apache-2.0
#include "tests/backends/cuda/sim/runtime_support.h"
//
#include <thread>

namespace stepscope::cudasim {
namespace {

class Streams : public RuntimeTest {};

TEST_F(Streams, WorkRunsInOrderAndOnlyWhenItIsWaitedFor) {
  const cudaStream_t s = stream();
  float* const data = device();
  CUDA_OK(set(s, data, 1));
  CUDA_OK(add(s, data, 2));
  CUDA_OK(add(s, data, 4));
  EXPECT_EQ(0u, totals().kernels);
  EXPECT_EQ(3u, totals().waiting);
  CUDA_OK(cudaStreamSynchronize(s));
  EXPECT_EQ(3u, totals().kernels);
  EXPECT_EQ(0u, totals().waiting);
  EXPECT_EQ(all(7), read(data));
}

TEST_F(Streams, AWaitRunsOnlyWhatItDependsOn) {
  const cudaStream_t s = stream(), t = stream();
  float* const data = device();
  CUDA_OK(set(s, data, 1));
  CUDA_OK(set(t, device(), 1));
  CUDA_OK(cudaStreamSynchronize(t));
  EXPECT_EQ(1u, totals().kernels);
  EXPECT_TRUE(all_nan(read(data)));  // the copy on the legacy stream does not wait for s either
  CUDA_OK(cudaStreamSynchronize(s));
  EXPECT_EQ(all(1), read(data));
}

// The same program without and with its event: NaN, every time, and the value.
TEST_F(Streams, AMissingEventWaitReadsWhatIsNotThereYet) {
  for (const bool waits : {false, true}) {
    const cudaStream_t s = stream(), t = stream();
    const cudaEvent_t written = event();
    float *const data = device(), *const out = device();
    CUDA_OK(set(s, data, 5));
    CUDA_OK(cudaEventRecord(written, s));
    if (waits) {
      CUDA_OK(cudaStreamWaitEvent(t, written, 0));
    }
    CUDA_OK(copy(t, out, data));
    CUDA_OK(cudaDeviceSynchronize());  // though it waits for both, the reader runs first
    EXPECT_EQ(waits, read(out) == all(5));
    EXPECT_EQ(!waits, all_nan(read(out)));
  }
}

TEST_F(Streams, AJoinWithoutItsEventShowsToo) {
  const cudaStream_t s = stream(), t = stream();
  const cudaEvent_t joined = event();
  float *const data = device(), *const out = device();
  CUDA_OK(set(s, data, 5));
  CUDA_OK(copy(t, out, data));  // should have waited for s
  CUDA_OK(cudaEventRecord(joined, t));
  CUDA_OK(cudaStreamWaitEvent(s, joined, 0));
  CUDA_OK(cudaStreamSynchronize(s));
  EXPECT_TRUE(all_nan(read(out)));
}

// Each kind of dependency, with its wait left out, in the way that hides it from the lazy schedule:
// what should come first is waited for first.
TEST_F(Streams, AMissingWaitIsFoundByOthersFirst) {
  const auto run = [&](Schedule schedule, const auto& first, const auto& second) {
    reset({.schedule = schedule});
    forget();
    const cudaStream_t s = stream(), t = stream();
    float *const data = device(), *const out = device();
    EXPECT_EQ(cudaSuccess, cudaMemset(data, 0, kBytes));
    EXPECT_EQ(cudaSuccess, cudaMemset(out, 0, kBytes));
    EXPECT_EQ(cudaSuccess, cudaDeviceSynchronize());
    EXPECT_EQ(cudaSuccess, first(s, out, data));
    EXPECT_EQ(cudaSuccess, second(t, out, data));
    EXPECT_EQ(cudaSuccess, cudaStreamSynchronize(s));
    EXPECT_EQ(cudaSuccess, cudaStreamSynchronize(t));
    return std::pair{read(out)[0], read(data)[0]};
  };
  const auto write = [](cudaStream_t s, float*, float* data) { return set(s, data, 5); };
  const auto write_more = [](cudaStream_t s, float*, float* data) { return set(s, data, 6); };
  const auto reads = [](cudaStream_t s, float* out, float* data) { return copy(s, out, data); };
  using Values = std::pair<float, float>;
  EXPECT_EQ((Values{5, 5}), run(Schedule::lazy, write, reads));
  EXPECT_EQ((Values{0, 5}), run(Schedule::others_first, write, reads));
  EXPECT_EQ((Values{0, 6}), run(Schedule::lazy, reads, write_more));
  EXPECT_EQ((Values{6, 6}), run(Schedule::others_first, reads, write_more));
  EXPECT_EQ((Values{0, 6}), run(Schedule::lazy, write, write_more));
  EXPECT_EQ((Values{0, 5}), run(Schedule::others_first, write, write_more));
}

// The writer's stream goes on, so that the newest piece of work pulls the writer along.
TEST_F(Streams, OthersFirstDelaysTheOldestOfAllWork) {
  for (const Schedule schedule : {Schedule::lazy, Schedule::others_first}) {
    reset({.schedule = schedule});
    forget();
    const cudaStream_t s = stream(), t = stream();
    float *const data = device(), *const out = device();
    CUDA_OK(set(s, data, 5));
    CUDA_OK(copy(t, out, data));
    CUDA_OK(set(s, device(), 1));
    CUDA_OK(cudaDeviceSynchronize());
    EXPECT_EQ(schedule == Schedule::others_first, all_nan(read(out)));
  }
}

// One wait for all blocking streams: the schedule chooses their order.
TEST_F(Streams, AWaitForTheLegacyStreamShowsAMissingWaitToo) {
  const cudaStream_t s = stream(cudaStreamDefault), t = stream(cudaStreamDefault);
  float *const data = device(), *const out = device();
  CUDA_OK(set(s, data, 5));
  CUDA_OK(copy(t, out, data));
  CUDA_OK(cudaStreamSynchronize(nullptr));
  EXPECT_TRUE(all_nan(read(out)));
}

TEST_F(Streams, AnEventMarksWhatWasThereWhenItWasRecorded) {
  const cudaStream_t s = stream(), t = stream();
  const cudaEvent_t mark = event();
  float *const data = device(), *const out = device();
  CUDA_OK(set(s, data, 1));
  CUDA_OK(cudaEventRecord(mark, s));
  CUDA_OK(add(s, data, 1));  // behind the mark
  CUDA_OK(cudaStreamWaitEvent(t, mark, 0));
  CUDA_OK(cudaEventRecord(mark, s));  // does not move the wait of before
  CUDA_OK(copy(t, out, data));
  CUDA_OK(cudaStreamSynchronize(t));
  EXPECT_EQ(all(1), read(out));
}

TEST_F(Streams, AReusedPinnedBufferGivesTheNewValues) {
  const cudaStream_t s = stream();
  float *const in = pinned(1), *const data = device();
  CUDA_OK(cudaMemcpyAsync(data, in, kBytes, cudaMemcpyHostToDevice, s));
  std::fill_n(in, kCount, 2.0f);  // too early
  CUDA_OK(cudaStreamSynchronize(s));
  EXPECT_EQ(all(2), read(data));
}

TEST_F(Streams, AResultIsNotThereBeforeTheWait) {
  const cudaStream_t s = stream();
  float *const data = device(), *const out = pinned(-1);
  CUDA_OK(set(s, data, 3));
  CUDA_OK(cudaMemcpyAsync(out, data, kBytes, cudaMemcpyDeviceToHost, s));
  EXPECT_EQ(-1, out[0]);
  CUDA_OK(cudaStreamSynchronize(s));
  EXPECT_EQ(3, out[0]);
}

TEST_F(Streams, EagerRunsAtOnce) {
  set_schedule(Schedule::eager);
  const cudaStream_t s = stream();
  float* const out = pinned(-1);
  CUDA_OK(set(s, out, 3));
  EXPECT_EQ(3, out[0]);
  EXPECT_EQ(0u, totals().waiting);
}

TEST_F(Streams, EagerLateRunsWhatWaited) {
  float* const out = pinned(-1);
  CUDA_OK(set(stream(), out, 3));
  EXPECT_EQ(-1, out[0]);
  set_schedule(Schedule::eager);
  EXPECT_EQ(3, out[0]);
}

// Over seeds, a reader without its event sees both; with it, the value alone.
TEST_F(Streams, SeededRunsInManyLegalOrders) {
  constexpr int kSeeds = 120;  // one in eight runs the reader first
  for (const bool waits : {false, true}) {
    int right = 0, nan = 0;
    for (std::uint64_t seed = 1; seed <= std::uint64_t{kSeeds}; ++seed) {
      reset({.schedule = Schedule::seeded, .seed = seed});
      forget();
      const cudaStream_t s = stream(), t = stream();
      const cudaEvent_t written = event();
      float *const data = device(), *const out = device();
      CUDA_OK(set(s, data, 5));
      CUDA_OK(cudaEventRecord(written, s));
      if (waits) {
        CUDA_OK(cudaStreamWaitEvent(t, written, 0));
      }
      CUDA_OK(copy(t, out, data));
      CUDA_OK(cudaDeviceSynchronize());
      const std::vector<float> values = read(out);
      right += values == all(5) ? 1 : 0;
      nan += all_nan(values) ? 1 : 0;
    }
    EXPECT_EQ(kSeeds, right + nan);
    EXPECT_EQ(waits ? 0 : kSeeds - right, nan);
    EXPECT_TRUE(waits || nan > 5);
    EXPECT_GT(right, 5);
  }
}

TEST_F(Streams, ASeedIsARun) {
  const auto run = [&] {
    reset({.schedule = Schedule::seeded, .seed = 7});
    forget();
    std::vector<std::uint64_t> ran;
    const cudaStream_t s = stream(), t = stream();
    float* const data = device();
    for (int i = 0; i < 20; ++i) {
      EXPECT_EQ(cudaSuccess, set(i % 2 != 0 ? s : t, data, 1));
      ran.push_back(totals().kernels);
    }
    return ran;
  };
  const auto first = run();
  EXPECT_EQ(first, run());
  EXPECT_GT(first.back(), 0u);  // some of it ran though nobody waited
}

// --- the legacy stream ---------------------------------------------------------------------------

TEST_F(Streams, TheLegacyStreamFollowsBlockingStreamsAndTheyIt) {
  const cudaStream_t s = stream(cudaStreamDefault), t = stream(cudaStreamDefault);
  float *const data = device(), *const between = device(), *const out = device();
  CUDA_OK(set(s, data, 4));
  CUDA_OK(copy(nullptr, between, data));
  CUDA_OK(copy(t, out, between));
  CUDA_OK(cudaStreamSynchronize(t));
  EXPECT_EQ(3u, totals().kernels);
  EXPECT_EQ(all(4), read(out));
}

TEST_F(Streams, NonBlockingStreamsAreExempt) {
  const cudaStream_t s = stream(cudaStreamNonBlocking);
  float *const data = device(), *const out = device();
  CUDA_OK(set(s, data, 4));
  CUDA_OK(copy(cudaStreamLegacy, out, data));
  CUDA_OK(cudaStreamSynchronize(cudaStreamLegacy));
  EXPECT_TRUE(all_nan(read(out)));

  CUDA_OK(set(nullptr, data, 6));
  CUDA_OK(cudaStreamSynchronize(s));  // s does not follow the legacy stream
  EXPECT_TRUE(read(data) == all(6));
}

TEST_F(Streams, ADestroyedStreamsWorkIsStillWaitedFor) {
  cudaStream_t s = nullptr;
  CUDA_OK(cudaStreamCreate(&s));
  float* const data = device();
  CUDA_OK(set(s, data, 4));
  CUDA_OK(cudaStreamDestroy(s));
  EXPECT_EQ(1u, totals().waiting);
  EXPECT_EQ(all(4), read(data));  // by the legacy stream
  expect_refused(cudaErrorInvalidResourceHandle, cudaStreamSynchronize(s));
  expect_refused(cudaErrorInvalidResourceHandle, set(s, data, 4));
}

TEST_F(Streams, WaitingForTheLegacyStreamIsWaitingForTheBlockingOnes) {
  const cudaStream_t s = stream(cudaStreamDefault), t = stream(cudaStreamNonBlocking);
  float* const out = pinned(-1);
  CUDA_OK(set(s, out, 2));
  CUDA_OK(set(t, pinned(-1), 3));
  CUDA_OK(cudaStreamSynchronize(nullptr));
  EXPECT_EQ(2, out[0]);
  EXPECT_EQ(1u, totals().waiting);
  EXPECT_EQ(cudaSuccess, cudaStreamQuery(nullptr));
  forget();
  reset();
}

TEST_F(Streams, EachThreadHasItsOwnDefaultStream) {
  float *const data = device(), *const out = device();
  CUDA_OK(set(cudaStreamPerThread, data, 1));
  std::thread other([&] {
    EXPECT_EQ(cudaSuccess, copy(cudaStreamPerThread, out, data));
    EXPECT_EQ(cudaSuccess, cudaStreamSynchronize(cudaStreamPerThread));
  });
  other.join();
  EXPECT_EQ(1u, totals().kernels);  // the other thread's wait is not for this one's stream
  std::thread([&] {                 // nor is it the stream of a thread that is gone
    EXPECT_EQ(cudaSuccess, set(cudaStreamPerThread, data, 2));
  })
      .join();
  std::thread([&] {
    EXPECT_EQ(cudaSuccess, copy(cudaStreamPerThread, out, data));
    EXPECT_EQ(cudaSuccess, cudaStreamSynchronize(cudaStreamPerThread));
  }).join();
  EXPECT_EQ(2u, totals().kernels);
  CUDA_OK(cudaStreamSynchronize(cudaStreamPerThread));
  EXPECT_EQ(3u, totals().kernels);
  EXPECT_TRUE(all_nan(read(out)));
}

TEST_F(Streams, ThreadsMayCallAtOnce) {
  constexpr int kThreads = 4, kRounds = 50;
  std::vector<float*> data;
  for (int i = 0; i < kThreads; ++i) data.push_back(pinned(0));
  const auto work = [](float* at) {
    cudaStream_t s = nullptr;
    EXPECT_EQ(cudaSuccess, cudaStreamCreateWithFlags(&s, cudaStreamNonBlocking));
    for (int round = 0; round < kRounds; ++round) {
      EXPECT_EQ(cudaSuccess, add(s, at, 1));
      EXPECT_EQ(cudaErrorInvalidDevice, cudaSetDevice(1));  // each thread's own last error
      EXPECT_EQ(cudaErrorInvalidDevice, cudaGetLastError());
      EXPECT_EQ(cudaSuccess, cudaStreamSynchronize(s));
    }
    EXPECT_EQ(cudaSuccess, cudaStreamDestroy(s));
  };
  std::vector<std::thread> threads;
  for (float* at : data) threads.emplace_back(work, at);
  for (std::thread& thread : threads) thread.join();
  for (const float* at : data) EXPECT_EQ(kRounds, at[kCount - 1]);
}

TEST_F(Streams, TheThreadsStreamObeysTheLegacyRules) {
  float *const data = device(), *const out = device();
  CUDA_OK(set(cudaStreamPerThread, data, 1));
  CUDA_OK(copy(nullptr, out, data));
  EXPECT_EQ(all(1), read(out));
}

TEST_F(Streams, DefaultStreamsCannotBeDestroyed) {
  for (const cudaStream_t handle : {cudaStream_t{}, cudaStreamLegacy, cudaStreamPerThread}) {
    expect_refused(cudaErrorInvalidResourceHandle, cudaStreamDestroy(handle));
  }
}

TEST_F(Streams, BadArgumentsAreRefused) {
  expect_refused(cudaErrorInvalidValue, cudaStreamCreate(nullptr));
  cudaStream_t s = nullptr;
  expect_refused(cudaErrorInvalidValue, cudaStreamCreateWithFlags(&s, 8));
  expect_refused(cudaErrorInvalidResourceHandle, cudaStreamWaitEvent(nullptr, nullptr, 0));
  expect_refused(cudaErrorInvalidValue, cudaLaunchHostFunc(nullptr, nullptr, nullptr));
  expect_refused(cudaErrorInvalidValue, cudaStreamAddCallback(nullptr, nullptr, nullptr, 0));
}

// --- host functions ------------------------------------------------------------------------------

TEST_F(Streams, HostFunctionsRunInOrderOnce) {
  const cudaStream_t s = stream();
  float* const data = pinned(0);
  const auto doubled = [](void* at) { *static_cast<float*>(at) *= 2; };
  CUDA_OK(set(s, data, 1));
  CUDA_OK(cudaLaunchHostFunc(s, doubled, data));
  CUDA_OK(add(s, data, 1));
  CUDA_OK(cudaLaunchHostFunc(s, doubled, data));
  EXPECT_EQ(0, data[0]);
  CUDA_OK(cudaStreamSynchronize(s));
  CUDA_OK(cudaStreamSynchronize(s));
  EXPECT_EQ(6, data[0]);
  EXPECT_EQ(2u, totals().host_calls);
}

TEST_F(Streams, Rule21_CallsInsideAHostFunctionAreRefused) {
  const cudaStream_t s = stream();
  std::vector<cudaError_t> codes;
  CUDA_OK(cudaLaunchHostFunc(
      s,
      [](void* at) {
        void* data = nullptr;
        auto& into = *static_cast<std::vector<cudaError_t>*>(at);
        into.push_back(cudaMalloc(&data, 8));
        into.push_back(cudaStreamQuery(nullptr));
      },
      &codes));
  CUDA_OK(cudaStreamSynchronize(s));
  EXPECT_EQ((std::vector{cudaErrorNotPermitted, cudaErrorNotPermitted}), codes);
  EXPECT_EQ(cudaErrorNotPermitted, cudaGetLastError());
  void* data = nullptr;
  CUDA_OK(cudaMalloc(&data, 8));  // and afterwards no more
  CUDA_OK(cudaFree(data));
  expect_lints({Lint::unchecked_error});  // only one of the two could be collected
}

TEST_F(Streams, CallbacksHearOfTheDevicesFault) {
  struct Heard {
    std::vector<cudaError_t> codes;
    cudaStream_t stream = nullptr;
  } heard;
  const auto hear = [](cudaStream_t s, cudaError_t status, void* at) {
    static_cast<Heard*>(at)->codes.push_back(status);
    static_cast<Heard*>(at)->stream = s;
  };
  int calls = 0;
  const cudaStream_t s = stream();
  float* const data = device();
  CUDA_OK(cudaStreamAddCallback(s, hear, &heard, 0));
  CUDA_OK(set(s, data, 1));
  CUDA_OK(cudaStreamAddCallback(s, hear, &heard, 0));
  CUDA_OK(cudaLaunchHostFunc(
      s, [](void* at) { ++*static_cast<int*>(at); }, &calls));
  fault_kernel(cudaErrorLaunchFailure);
  EXPECT_EQ(cudaErrorLaunchFailure, cudaStreamSynchronize(s));
  EXPECT_EQ((std::vector{cudaSuccess, cudaErrorLaunchFailure}), heard.codes);
  EXPECT_EQ(s, heard.stream);
  EXPECT_EQ(0, calls);  // a host function is not called after an error
}

// Device memory is closed to it, as to all host code.
TEST_F(Streams, ACallbackThatHearsOfAFaultMayNotTouchTheDevice) {
  const cudaStream_t s = stream();
  float* const data = device();
  CUDA_OK(set(s, data, 1));
  CUDA_OK(cudaStreamAddCallback(
      s, [](cudaStream_t, cudaError_t, void* at) { (void)*static_cast<volatile float*>(at); }, data,
      0));
  fault_kernel(cudaErrorLaunchFailure);
  EXPECT_DEATH((void)cudaStreamSynchronize(s), "host code touched device memory");
  reset();
  forget();
}

TEST_F(Streams, LongQueuesNeedNoDeepStack) {
  const cudaStream_t s = stream();
  float* const data = device();
  CUDA_OK(set(s, data, 0));
  for (int i = 0; i < 50'000; ++i) CUDA_OK(cudaMemsetAsync(data, 0, 4, s));
  CUDA_OK(cudaStreamSynchronize(s));
  for (int i = 0; i < 50'000; ++i) CUDA_OK(cudaMemsetAsync(data, 0, 4, s));
  forget();
  reset();  // what waited never runs
  EXPECT_EQ(0u, totals().fills);
}

}  // namespace
}  // namespace stepscope::cudasim
