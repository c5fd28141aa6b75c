// The sampler allocates its lists before it times, and nothing while it does.
// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include "backends/null/null.h"
#include "bench/measure/sampler.h"
#include "tests/alloc/alloc_counter.h"

namespace stepscope {
namespace {

class SamplerAllocations : public testing::Test {
 protected:
  template <class Action>
  std::uint64_t count(Action&& action) {
    alloc::start();
    action();
    return alloc::stop().all_threads;
  }

  std::unique_ptr<Backend> backend_ = null::make_backend({});
  Session session_{*backend_, make_model("chain:20"), {.step_batches = {2}}};
  InputRing ring_ = InputRing::noise(session_.model().features, 2, 1);
  std::vector<std::byte> start_ = session_.memory().snapshot(session_.stream());
  SessionSubject subject_{session_, ring_, 2, start_};
  SteadyTimer timer_;
};

TEST_F(SamplerAllocations, ASlotMakesNone) {
  time_slot(subject_, timer_, 3);  // pools and caches are warm
  EXPECT_EQ(count([&] { time_slot(subject_, timer_, 1000); }), 0u);
}

TEST_F(SamplerAllocations, AListMakesAsManyForOneSampleAsForAThousand) {
  sample_latency(subject_, timer_, 3);
  const auto latency = [&](std::int64_t samples) {
    return count([&] { sample_latency(subject_, timer_, samples); });
  };
  EXPECT_EQ(latency(1), latency(1000));
  const auto throughput = [&](std::int64_t blocks) {
    return count([&] { sample_throughput(subject_, timer_, 2, blocks); });
  };
  EXPECT_EQ(throughput(1), throughput(1000));
}

TEST_F(SamplerAllocations, TheCounterSeesAnAllocation) {
  EXPECT_GT(count([] { std::vector<int>(100).at(99) = 1; }), 0u);
}

}  // namespace
}  // namespace stepscope
