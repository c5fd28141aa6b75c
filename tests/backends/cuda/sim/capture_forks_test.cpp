// Forks and joins of captures: rules 14 to 18 of docs/cuda-simulator.md.
// SPDX-License-Identifier: Apache-2.0
#include "tests/backends/cuda/sim/graph_support.h"
//

namespace stepscope::cudasim {
namespace {

class Forks : public GraphTest {};

using Edges = std::vector<std::pair<int, int>>;

TEST_F(Forks, Rule14_WaitingForACapturedEventJoins) {
  const cudaStream_t s = stream(), forked = stream();
  const cudaEvent_t fork = event(), join = event();
  int *const a = ints(), *const b = ints(), *const c = ints();
  begin(s);
  CUDA_OK(set(s, a, 1));
  CUDA_OK(cudaEventRecord(fork, s));
  EXPECT_EQ(cudaStreamCaptureStatusNone, status(forked));
  CUDA_OK(cudaStreamWaitEvent(forked, fork, 0));
  EXPECT_EQ(cudaStreamCaptureStatusActive, status(forked));
  CUDA_OK(set(forked, b, 2));
  CUDA_OK(cudaEventRecord(join, forked));
  CUDA_OK(add(s, a, 10));
  CUDA_OK(cudaStreamWaitEvent(s, join, 0));
  CUDA_OK(cudaStreamWaitEvent(s, join, 0));  // again: no second edge
  CUDA_OK(cuda::launch(s, 1, kCount, 0, sum_of, c, a, b));
  const cudaGraph_t made = end(s);
  EXPECT_EQ((Edges{{0, 1}, {0, 2}, {2, 3}, {1, 3}}), edges_of(made));
  EXPECT_EQ(cudaStreamCaptureStatusNone, status(forked));
  CUDA_OK(cudaGraphLaunch(instantiated(made), s));
  CUDA_OK(cudaStreamSynchronize(s));
  EXPECT_EQ(all(13), read(c));
}

TEST_F(Forks, Rule14_AForkStandsWhereItsEventWasRecorded) {
  const cudaStream_t s = stream(), forked = stream();
  const cudaEvent_t fork = event(), join = event();
  int* const a = ints();
  begin(s);
  CUDA_OK(cudaEventRecord(fork, s));  // before anything: a root
  CUDA_OK(set(s, a, 1));
  CUDA_OK(cudaStreamWaitEvent(forked, fork, 0));
  CUDA_OK(set(forked, ints_, 2));
  CUDA_OK(cudaEventRecord(join, forked));
  CUDA_OK(cudaStreamWaitEvent(s, join, 0));
  EXPECT_EQ(Edges{}, edges_of(end(s)));
}

TEST_F(Forks, Rule15_WaitingForAnEventRecordedOutsideIsRefused) {
  const cudaStream_t s = stream(), outside = stream();
  const cudaEvent_t e = event(), never = event();
  CUDA_OK(cudaEventRecord(e, outside));
  for (const cudaEvent_t waited : {e, never}) {
    begin(s);
    expect_broken(cudaErrorStreamCaptureIsolation, cudaStreamWaitEvent(s, waited, 0), s);
  }
}

TEST_F(Forks, Rule15_SoIsAnEventOfACaptureThatHasEnded) {
  const cudaStream_t s = stream(), outside = stream();
  const cudaEvent_t e = event();
  begin(s);
  CUDA_OK(cudaEventRecord(e, s));
  end(s);
  expect_refused(cudaErrorStreamCaptureIsolation, cudaStreamWaitEvent(outside, e, 0));
  EXPECT_EQ(cudaStreamCaptureStatusNone, status(outside));
  begin(s);
  expect_broken(cudaErrorStreamCaptureIsolation, cudaStreamWaitEvent(s, e, 0), s);
}

TEST_F(Forks, Rule16_TwoCapturesDoNotMerge) {
  const cudaStream_t s = stream(), other = stream();
  const cudaEvent_t e = event();
  begin(s);
  begin(other);
  CUDA_OK(cudaEventRecord(e, s));
  expect_refused(cudaErrorStreamCaptureMerge, cudaStreamWaitEvent(other, e, 0));
  expect_end(cudaErrorStreamCaptureInvalidated, other);
  expect_end(cudaErrorStreamCaptureInvalidated, s);
}

TEST_F(Forks, Rule17_OnlyTheOriginMayEnd) {
  const cudaStream_t s = stream(), forked = stream();
  const cudaEvent_t e = event();
  begin(s);
  CUDA_OK(cudaEventRecord(e, s));
  CUDA_OK(cudaStreamWaitEvent(forked, e, 0));
  cudaGraph_t made = nullptr;
  expect_refused(cudaErrorStreamCaptureUnmatched, cudaStreamEndCapture(forked, &made));
  EXPECT_EQ(nullptr, made);
  EXPECT_EQ(cudaStreamCaptureStatusInvalidated, status(s));
  expect_end(cudaErrorStreamCaptureInvalidated, s);
  EXPECT_EQ(cudaStreamCaptureStatusNone, status(forked));
}

TEST_F(Forks, Rule18_AForkIsJoinedBeforeTheEnd) {
  const cudaStream_t s = stream(), forked = stream();
  const cudaEvent_t fork = event(), join = event();
  int* const a = ints();
  const auto capture_fork = [&](bool joined, bool work_after) {
    begin(s);
    CUDA_OK(cudaEventRecord(fork, s));
    CUDA_OK(cudaStreamWaitEvent(forked, fork, 0));
    CUDA_OK(set(forked, a, 2));
    CUDA_OK(cudaEventRecord(join, forked));
    if (joined) {
      CUDA_OK(cudaStreamWaitEvent(s, join, 0));
    }
    if (work_after) {
      CUDA_OK(add(forked, a, 1));
    }
  };
  capture_fork(false, false);
  expect_end(cudaErrorStreamCaptureUnjoined, s);
  EXPECT_EQ(cudaStreamCaptureStatusNone, status(forked));
  capture_fork(true, true);  // joined, but not its last work
  expect_end(cudaErrorStreamCaptureUnjoined, s);
  capture_fork(true, false);
  EXPECT_EQ(1u, nodes_of(end(s)).size());
}

TEST_F(Forks, Rule18_AStreamMayBeJoinedThroughAnother) {
  const cudaStream_t s = stream(), one = stream(), two = stream();
  const cudaEvent_t fork = event(), first = event(), second = event();
  begin(s);
  CUDA_OK(cudaEventRecord(fork, s));
  CUDA_OK(cudaStreamWaitEvent(one, fork, 0));
  CUDA_OK(set(one, ints_, 1));
  CUDA_OK(cudaEventRecord(first, one));
  CUDA_OK(cudaStreamWaitEvent(two, first, 0));
  CUDA_OK(set(two, ints_, 1));
  CUDA_OK(cudaEventRecord(second, two));
  CUDA_OK(cudaStreamWaitEvent(s, second, 0));
  EXPECT_EQ((Edges{{0, 1}}), edges_of(end(s)));
}

}  // namespace
}  // namespace stepscope::cudasim
