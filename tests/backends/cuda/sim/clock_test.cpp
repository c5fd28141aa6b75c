// The virtual clock: f = max(ends of what a task follows, l) + e, by hand, with costs drawn anew.
// SPDX-License-Identifier: Apache-2.0
#include "tests/backends/cuda/sim/runtime_support.h"
//
#include "backends/cuda/sim/work.h"

namespace stepscope::cudasim {
namespace {

class Clock : public RuntimeTest {
 protected:
  // A fresh device with these costs; no handle of before is left.
  void begin(const Costs& with) {
    reset({.costs = with});
    forget();
    costs_ = with;
  }
  Nanoseconds kernel_cost() const {
    return costs_.kernel + costs_.kernel_per_thread_ps * kCount / 1000;
  }
  Nanoseconds copy_cost(std::size_t bytes) const {
    return costs_.copy + costs_.copy_per_byte_ps * static_cast<Nanoseconds>(bytes) / 1000;
  }
  // The host's clock after a call that launches, which is the l of what it launched.
  Nanoseconds launch_time() { return costs_.any_call + costs_.launch_kernel; }

  Costs costs_;
};

Nanoseconds between(cudaEvent_t from, cudaEvent_t to) {
  float ms = 0;
  EXPECT_EQ(cudaSuccess, cudaEventElapsedTime(&ms, from, to));
  return static_cast<Nanoseconds>(std::lround(static_cast<double>(ms) * 1e6));
}

TEST_F(Clock, EachCallMovesTheHost) {
  for (std::uint64_t seed = 1; seed <= 5; ++seed) {
    begin(drawn_costs(seed));
    EXPECT_EQ(0, host_now_ns());
    int n = 0;
    CUDA_OK(cudaGetDeviceCount(&n));
    EXPECT_EQ(costs_.any_call, host_now_ns());
    const cudaStream_t s = stream();
    EXPECT_EQ(2 * costs_.any_call, host_now_ns());
    float* const data = device();
    CUDA_OK(set(s, data, 1));
    EXPECT_EQ(4 * costs_.any_call + costs_.launch_kernel, host_now_ns());
    CUDA_OK(cudaMemsetAsync(data, 0, 4, s));
    EXPECT_EQ(5 * costs_.any_call + 2 * costs_.launch_kernel, host_now_ns());
    advance_host(12);
    EXPECT_EQ(5 * costs_.any_call + 2 * costs_.launch_kernel + 12, host_now_ns());
  }
}

TEST_F(Clock, AStreamIsTheFormula) {
  for (std::uint64_t seed = 1; seed <= 20; ++seed) {
    begin(drawn_costs(seed));
    const cudaStream_t s = stream();
    float *const data = device(), *const host = pinned();
    Nanoseconds f = 0, now = host_now_ns();
    for (int i = 0; i < 12; ++i) {
      if (i == 5) advance_host(50'000), now += 50'000;  // the device runs dry
      now += launch_time();
      Nanoseconds e = 0;
      if (i % 3 == 0) {
        CUDA_OK(set(s, data, 1));
        e = kernel_cost();
      } else if (i % 3 == 1) {
        CUDA_OK(cudaMemcpyAsync(host, data, kBytes, cudaMemcpyDeviceToHost, s));
        e = copy_cost(kBytes);
      } else {
        CUDA_OK(cudaMemsetAsync(data, 0, 4, s));
        e = copy_cost(4);
      }
      f = std::max(f, now) + e;
      EXPECT_EQ(now, host_now_ns());
    }
    CUDA_OK(cudaStreamSynchronize(s));
    EXPECT_EQ(std::max(f, now + costs_.any_call), host_now_ns()) << "seed " << seed;
  }
}

TEST_F(Clock, AWaitedEventIsPartOfTheMaximum) {
  for (std::uint64_t seed = 1; seed <= 20; ++seed) {
    Costs costs = drawn_costs(seed);
    costs.one_device = false;
    begin(costs);
    const cudaStream_t s = stream(), t = stream();
    const cudaEvent_t from = event(), mark = event(), end = event();
    float *const data = device(), *const other = device();
    CUDA_OK(cudaEventRecord(from, s));
    const Nanoseconds began = host_now_ns();
    Nanoseconds now = began, f = 0;
    for (int i = 0; i < 6; ++i) {
      CUDA_OK(set(s, data, 1));
      now += launch_time();
      f = std::max(f, now) + kernel_cost();
    }
    CUDA_OK(cudaEventRecord(mark, s));
    CUDA_OK(cudaStreamWaitEvent(t, mark, 0));
    CUDA_OK(set(t, other, 1));
    now += 2 * costs_.any_call + launch_time();
    const Nanoseconds ft = std::max(f, now) + kernel_cost();
    CUDA_OK(cudaEventRecord(end, t));
    CUDA_OK(cudaEventSynchronize(end));
    // Events are marks: a record has an l of its own, and costs the device nothing.
    const Nanoseconds at = std::max(ft, now + costs_.any_call);
    EXPECT_NEAR(static_cast<double>(at - began), static_cast<double>(between(from, end)), 1.0)
        << "seed " << seed;
  }
}

// Two streams overlap, unless they share one device.
TEST_F(Clock, OneDeviceRunsOneAfterTheOther) {
  for (const bool one : {false, true}) {
    Costs costs;
    costs.any_call = costs.launch_kernel = 0;  // all at 0
    costs.kernel_per_thread_ps = 0;
    costs.one_device = one;
    begin(costs);
    for (int i = 0; i < 3; ++i) CUDA_OK(set(stream(), device(), 1));
    CUDA_OK(cudaDeviceSynchronize());
    EXPECT_EQ((one ? 3 : 1) * costs.kernel, host_now_ns());
  }
}

TEST_F(Clock, ANodeCostsItsShareMore) {
  for (std::uint64_t seed = 1; seed <= 5; ++seed) {
    begin(drawn_costs(seed));
    const cudaStream_t s = stream();
    float* const data = device();
    CUDA_OK(set(s, data, 1));
    cudaGraph_t graph = nullptr;
    cudaGraphExec_t exec = nullptr;
    CUDA_OK(cudaStreamBeginCapture(s, cudaStreamCaptureModeGlobal));
    for (int i = 0; i < 3; ++i) CUDA_OK(set(s, data, 1));
    CUDA_OK(cudaStreamEndCapture(s, &graph));
    CUDA_OK(cudaGraphInstantiate(&exec, graph, 0));
    CUDA_OK(cudaStreamSynchronize(s));
    const Nanoseconds before = host_now_ns();
    CUDA_OK(cudaGraphLaunch(exec, s));
    const Nanoseconds launched =
        before + costs_.any_call + costs_.launch_graph + 3 * costs_.launch_per_node;
    EXPECT_EQ(launched, host_now_ns());
    CUDA_OK(cudaStreamSynchronize(s));
    EXPECT_EQ(std::max(launched + 3 * (kernel_cost() + costs_.node), launched + costs_.any_call),
              host_now_ns());
    CUDA_OK(cudaGraphExecDestroy(exec));
    CUDA_OK(cudaGraphDestroy(graph));
  }
}

TEST_F(Clock, DoesNotDependOnTheSchedule) {
  std::vector<Nanoseconds> ends;
  for (const Schedule schedule : {Schedule::lazy, Schedule::eager, Schedule::seeded}) {
    reset({.schedule = schedule, .seed = 3, .costs = drawn_costs(9)});
    forget();
    const cudaStream_t s = stream(), t = stream(cudaStreamDefault);
    const cudaEvent_t e = event();
    float *const data = device(), *const out = device();
    CUDA_OK(set(s, data, 1));
    CUDA_OK(cudaEventRecord(e, s));
    CUDA_OK(cudaStreamWaitEvent(t, e, 0));
    CUDA_OK(copy(t, out, data));
    CUDA_OK(copy(nullptr, data, out));
    CUDA_OK(cudaDeviceSynchronize());
    ends.push_back(host_now_ns());
  }
  EXPECT_EQ(ends[0], ends[1]);
  EXPECT_EQ(ends[0], ends[2]);
}

TEST_F(Clock, DrawnCostsDiffer) {
  EXPECT_NE(drawn_costs(1).kernel, drawn_costs(2).kernel);
  EXPECT_EQ(drawn_costs(3).node, drawn_costs(3).node);
}

}  // namespace
}  // namespace stepscope::cudasim
