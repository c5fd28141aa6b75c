// Events: rule 32, queries by the virtual clock, and what their handles refuse.
// SPDX-License-Identifier: Apache-2.0
#include "tests/backends/cuda/sim/runtime_support.h"

namespace stepscope::cudasim {
namespace {

class Events : public RuntimeTest {};

TEST_F(Events, NeverRecordedTheyAreDone) {
  const cudaEvent_t e = event();
  CUDA_OK(cudaEventQuery(e));
  CUDA_OK(cudaEventSynchronize(e));
  CUDA_OK(cudaStreamWaitEvent(stream(), e, 0));
}

TEST_F(Events, AnswerByTheVirtualClock) {
  const cudaStream_t s = stream();
  const cudaEvent_t e = event();
  float* const out = pinned(-1);
  CUDA_OK(set(s, out, 2));
  CUDA_OK(cudaEventRecord(e, s));
  EXPECT_EQ(cudaErrorNotReady, cudaEventQuery(e));
  EXPECT_EQ(cudaErrorNotReady, cudaStreamQuery(s));
  EXPECT_EQ(-1, out[0]);
  advance_host(1'000'000);
  EXPECT_EQ(-1, out[0]);  // time alone runs nothing
  CUDA_OK(cudaEventQuery(e));
  EXPECT_EQ(2, out[0]);  // what is said to be done is done
  CUDA_OK(cudaStreamQuery(s));
  // "Not ready" is the thread's last error, though nobody has to collect it.
  EXPECT_EQ(cudaErrorNotReady, cudaGetLastError());
}

TEST_F(Events, PollingEnds) {
  const cudaStream_t s = stream();
  CUDA_OK(set(s, device(), 1));
  int polls = 0;
  while (cudaStreamQuery(s) == cudaErrorNotReady) ASSERT_LT(++polls, 1000);
  EXPECT_GT(polls, 0);
}

TEST_F(Events, SynchronizeRunsWhatIsBeforeTheRecordAlone) {
  const cudaStream_t s = stream();
  const cudaEvent_t e = event();
  float* const out = pinned(-1);
  CUDA_OK(set(s, out, 2));
  CUDA_OK(cudaEventRecord(e, s));
  CUDA_OK(set(s, out, 3));
  CUDA_OK(cudaEventSynchronize(e));
  EXPECT_EQ(2, out[0]);
  EXPECT_EQ(1u, totals().waiting);
}

TEST_F(Events, Rule32_ElapsedTimeNeedsRecordsWithTiming) {
  const cudaStream_t s = stream();
  const cudaEvent_t from = event(), to = event(), blind = event(cudaEventDisableTiming);
  float ms = -1;
  expect_refused(cudaErrorInvalidResourceHandle, cudaEventElapsedTime(&ms, from, to));
  CUDA_OK(cudaEventRecord(from, s));
  expect_refused(cudaErrorInvalidResourceHandle, cudaEventElapsedTime(&ms, from, to));
  expect_refused(cudaErrorInvalidResourceHandle, cudaEventElapsedTime(&ms, to, from));
  CUDA_OK(cudaEventRecord(blind, s));
  CUDA_OK(cudaStreamSynchronize(s));
  expect_refused(cudaErrorInvalidResourceHandle, cudaEventElapsedTime(&ms, from, blind));
  expect_refused(cudaErrorInvalidResourceHandle, cudaEventElapsedTime(&ms, blind, from));
  expect_refused(cudaErrorInvalidValue, cudaEventElapsedTime(nullptr, from, from));
  EXPECT_EQ(-1, ms);
}

TEST_F(Events, Rule32_ElapsedTimeOfWhatIsNotFinishedIsNotReady) {
  const cudaStream_t s = stream();
  const cudaEvent_t from = event(), to = event();
  float ms = -1;
  CUDA_OK(cudaEventRecord(from, s));
  CUDA_OK(set(s, device(), 1));
  CUDA_OK(cudaEventRecord(to, s));
  EXPECT_EQ(cudaErrorNotReady, cudaEventElapsedTime(&ms, from, to));
  EXPECT_EQ(-1, ms);
  CUDA_OK(cudaEventSynchronize(to));
  CUDA_OK(cudaEventElapsedTime(&ms, from, to));
  EXPECT_GT(ms, 0);
  float back = 0;
  CUDA_OK(cudaEventElapsedTime(&back, to, from));
  EXPECT_EQ(-ms, back);
}

TEST_F(Events, DestroyedOnesAreRefusedAndTheirWaitsStay) {
  const cudaStream_t s = stream(), t = stream();
  cudaEvent_t e = nullptr;
  float *const data = device(), *const out = device();
  CUDA_OK(cudaEventCreate(&e));
  CUDA_OK(set(s, data, 3));
  CUDA_OK(cudaEventRecord(e, s));
  CUDA_OK(cudaStreamWaitEvent(t, e, 0));
  CUDA_OK(cudaEventDestroy(e));
  CUDA_OK(copy(t, out, data));
  CUDA_OK(cudaStreamSynchronize(t));
  EXPECT_EQ(all(3), read(out));
  expect_refused(cudaErrorInvalidResourceHandle, cudaEventDestroy(e));
  expect_refused(cudaErrorInvalidResourceHandle, cudaEventRecord(e, s));
  expect_refused(cudaErrorInvalidResourceHandle, cudaEventSynchronize(e));
  expect_refused(cudaErrorInvalidResourceHandle, cudaEventQuery(e));
  expect_refused(cudaErrorInvalidResourceHandle, cudaStreamWaitEvent(s, e, 0));
  float ms = 0;
  expect_refused(cudaErrorInvalidResourceHandle, cudaEventElapsedTime(&ms, e, e));
}

TEST_F(Events, BadFlagsAreRefused) {
  cudaEvent_t e = nullptr;
  expect_refused(cudaErrorInvalidValue, cudaEventCreateWithFlags(&e, 8));
  expect_refused(cudaErrorInvalidValue, cudaEventCreate(nullptr));
  expect_refused(cudaErrorInvalidValue, cudaStreamWaitEvent(nullptr, event(), 2));
  expect_refused(cudaErrorNotSupported,
                 cudaStreamWaitEvent(nullptr, event(), cudaEventWaitExternal));
}

}  // namespace
}  // namespace stepscope::cudasim
