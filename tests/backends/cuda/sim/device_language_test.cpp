// Device language: what each thread of a launch sees and gets, in every order of threads.
// SPDX-License-Identifier: Apache-2.0
#include <array>
#include <bit>
#include <climits>
#include <cmath>
#include <cstdint>

#include "tests/backends/cuda/sim/device_rig.h"

namespace stepscope::cudasim {
namespace {

class DeviceLanguage : public DeviceTest, public testing::WithParamInterface<Order> {
 protected:
  void SetUp() override {
    DeviceTest::SetUp();
    set_orders(GetParam(), GetParam());
  }
};

INSTANTIATE_TEST_SUITE_P(InOrder, DeviceLanguage,
                         testing::Values(Order::ascending, Order::descending, Order::seeded));

__global__ void note_coordinates(int* out) {
  const unsigned threads = blockDim.x * blockDim.y * blockDim.z;
  const unsigned thread = threadIdx.x + blockDim.x * (threadIdx.y + blockDim.y * threadIdx.z);
  const unsigned block = blockIdx.x + gridDim.x * (blockIdx.y + gridDim.y * blockIdx.z);
  out[block * threads + thread] += static_cast<int>(block * 1000 + thread) + warpSize;
}

TEST_P(DeviceLanguage, EveryThreadOfEveryBlockRunsOnceAndKnowsItsPlace) {
  const std::vector<int> values = run(dim3(3, 2, 2), dim3(4, 3, 2), note_coordinates, 288);
  for (int i = 0; i < 288; ++i) {
    EXPECT_EQ(i / 24 * 1000 + i % 24 + 32, values[static_cast<std::size_t>(i)]);
  }
}

// Its value is 100 + the lane.
template <class T>
__global__ void shuffle_all(T* out) {
  const auto lane = static_cast<int>(threadIdx.x);
  const T value = static_cast<T>(100 + lane);
  T* mine = out + lane * 24;
  for (int width = 1; width <= 32; width *= 2) {
    *mine++ = __shfl_sync(0xffffffffu, value, (lane + 3) % 32, width);
    *mine++ = __shfl_up_sync(0xffffffffu, value, 3, width);
    *mine++ = __shfl_down_sync(0xffffffffu, value, 3, width);
    *mine++ = __shfl_xor_sync(0xffffffffu, value, 5, width);
  }
}

// As the PTX manual's table of shfl.sync says it.
int source(int kind, int lane, int width) {
  const int first = lane / width * width, last = first + width - 1;
  const int wanted[] = {first + (lane + 3) % width, lane - 3, lane + 3, lane ^ 5};
  const bool inside[] = {true, wanted[1] >= first, wanted[2] <= last, wanted[3] <= last};
  return inside[kind] ? wanted[kind] : lane;
}

template <class T>
void expect_shuffled(const std::vector<T>& values) {
  for (int lane = 0; lane < 32; ++lane) {
    for (int i = 0; i < 24; ++i) {
      ASSERT_EQ(static_cast<T>(100 + source(i % 4, lane, 1 << (i / 4))),
                values[static_cast<std::size_t>(lane * 24 + i)])
          << "lane " << lane << ", width " << (1 << (i / 4)) << ", kind " << i % 4;
    }
  }
}

TEST_P(DeviceLanguage, ShufflesOfEveryKindAndWidth) {
  expect_shuffled(run(1, 32, shuffle_all<int>, 768));
  expect_shuffled(run(1, 32, shuffle_all<float>, 768));
  expect_shuffled(run(1, 32, shuffle_all<double>, 768));
  expect_shuffled(run(1, 32, shuffle_all<unsigned long long>, 768));
}

// The last warp has eight lanes; half of the first one leaves.
__global__ void vote(unsigned* out) {
  const unsigned lane = threadIdx.x % 32;
  if (threadIdx.x < 16) {
    return;
  }
  unsigned* mine = out + threadIdx.x * 4;
  mine[0] = __ballot_sync(0xffffffffu, lane % 3 == 0);
  mine[1] = static_cast<unsigned>(__any_sync(0xffffffffu, lane == 2));
  mine[2] = static_cast<unsigned>(__all_sync(0xffffffffu, lane >= 16));
  mine[3] = __activemask();
}

TEST_P(DeviceLanguage, VotesCountTheLanesThatAreThere) {
  const std::vector<unsigned> values = run(1, 40, vote, 160, 77u);
  for (unsigned thread = 0; thread < 40; ++thread) {
    const unsigned* mine = &values[thread * 4];
    if (thread < 16) {
      EXPECT_EQ(77u, mine[0]);
      continue;
    }
    EXPECT_EQ(thread < 32 ? 0x49240000u : 0x49u, mine[0]) << thread;
    EXPECT_EQ(thread < 32 ? 0u : 1u, mine[1]) << thread;
    EXPECT_EQ(thread < 32 ? 1u : 0u, mine[2]) << thread;
    EXPECT_EQ(1u << (thread % 32), mine[3]) << thread;
  }
}

// Two halves of a warp shuffle apart, from different lines.
__global__ void shuffle_in_halves(int* out) {
  const int lane = static_cast<int>(threadIdx.x);
  if (lane < 16) {
    out[lane] = __shfl_xor_sync(0x0000ffffu, lane, 1);
    out[lane] += 100 * __shfl_xor_sync(0x0000ffffu, lane, 2);
  } else {
    out[lane] = __shfl_xor_sync(0xffff0000u, lane, 4);
  }
  __syncwarp();
  out[lane] += 10000 * __shfl_sync(0xffffffffu, lane, 31);
}

TEST_P(DeviceLanguage, DisjointMasksMeetApart) {
  const std::vector<int> values = run(1, 32, shuffle_in_halves, 32);
  for (int lane = 0; lane < 32; ++lane) {
    const int expected = 310000 + (lane < 16 ? (lane ^ 1) + 100 * (lane ^ 2) : lane ^ 4);
    EXPECT_EQ(expected, values[static_cast<std::size_t>(lane)]);
  }
}

// Threads leave one after the other; those that are left still meet.
__global__ void barrier_of_the_rest(int* out) {
  SHARED_ARRAY(int, count, [1]);
  if (threadIdx.x == 0) {
    count[0] = 0;
  }
  __syncthreads();
  for (unsigned round = 0; round < blockDim.x; ++round) {
    const int seen = count[0];
    __syncthreads();
    if (threadIdx.x == blockDim.x - 1 - round) {
      out[threadIdx.x] = seen;
      return;
    }
    atomicAdd(&count[0], 1);
    __syncthreads();
  }
}

TEST_P(DeviceLanguage, BarriersDoNotWaitForThreadsThatLeft) {
  const std::vector<int> values = run(1, 5, barrier_of_the_rest, 5);
  EXPECT_EQ((std::vector<int>{10, 9, 7, 4, 0}), values);
}

template <int kTag>
__device__ int* place_of_tag() {
  SHARED_ARRAY(int, place, [3]);
  return place;
}

__global__ void compare_places(int* out) {
  SHARED_ARRAY(int, own, [1]);
  int* first = place_of_tag<1>();
  int* again = place_of_tag<1>();
  int* other = place_of_tag<2>();
  if (threadIdx.x != 0) {
    return;
  }
  out[blockIdx.x * 4] = static_cast<int>(first == again);
  out[blockIdx.x * 4 + 1] = static_cast<int>(first == other || own == first);
  // NaN as a float, whatever the block before left here.
  out[blockIdx.x * 4 + 2] = first[0] & own[0] & other[2];
  first[0] = own[0] = other[2] = 5;
  out[blockIdx.x * 4 + 3] = first[0];
}

TEST_P(DeviceLanguage, SharedArraysAreOnePlaceADeclarationAndBeginAsNaN) {
  const std::vector<int> values = run(2, 3, compare_places, 8);
  EXPECT_EQ((std::vector<int>{1, 0, -1, 5, 1, 0, -1, 5}), values);
}

__global__ void fill_dynamic(int* out) {
  DYNAMIC_SHARED(int, buffer);
  const unsigned next = (threadIdx.x + 1) % blockDim.x;
  out[threadIdx.x] = buffer[threadIdx.x];
  __syncthreads();
  buffer[next] = static_cast<int>(threadIdx.x);
  __syncthreads();
  out[threadIdx.x] += 10 * buffer[threadIdx.x];
  out[threadIdx.x] += reinterpret_cast<std::uintptr_t>(buffer) % 16 == 0 ? 0 : 1000;
}

TEST_P(DeviceLanguage, DynamicSharedMemoryIsTheLaunches) {
  const std::vector<int> values = run(1, 4, fill_dynamic, 4, 0, 4 * sizeof(int));
  EXPECT_EQ((std::vector<int>{29, -1, 9, 19}), values);
}

__global__ void add_atomically(int* out) {
  const int self = static_cast<int>(threadIdx.x);
  auto* bits = reinterpret_cast<unsigned*>(out);
  atomicAdd(out, self);
  atomicAdd(bits + 1, 1u);
  atomicAdd(reinterpret_cast<unsigned long long*>(out + 2), 1ull << 30);
  atomicAdd(reinterpret_cast<float*>(out + 4), 0.5f);
  atomicAdd(reinterpret_cast<double*>(out + 6), 0.25);
  atomicMax(out + 8, self - 5);
  atomicMin(out + 9, self - 5);
  atomicMax(bits + 10, 0x80000000u + threadIdx.x);
  atomicMin(bits + 11, 0x80000000u + threadIdx.x);
}

TEST_P(DeviceLanguage, AtomicsOfEveryType) {
  std::vector<int> values = run(2, 10, add_atomically, 12);
  EXPECT_EQ(90, values[0]);
  EXPECT_EQ(20, values[1]);
  EXPECT_EQ(20ull << 30, std::bit_cast<unsigned long long>(std::array{values[2], values[3]}));
  EXPECT_EQ(10.0f, std::bit_cast<float>(values[4]));
  EXPECT_EQ(5.0, std::bit_cast<double>(std::array{values[6], values[7]}));
  EXPECT_EQ(4, values[8]);
  EXPECT_EQ(-5, values[9]);
  EXPECT_EQ(0x80000009u, static_cast<unsigned>(values[10]));
  EXPECT_EQ(0u, static_cast<unsigned>(values[11]));
}

// A chain: each thread leaves its number and finds the one before.
__global__ void exchange(int* out) {
  const int self = static_cast<int>(threadIdx.x) + 1;
  out[self] = atomicExch(out, self);
  if (atomicCAS(out + 10, 0, self) == 0) {
    out[11] = self;  // one thread alone
  }
  out[12 + self] = atomicCAS(out + 10, -7, 0) == atomicCAS(out + 10, -7, 1) ? 1 : 0;
}

TEST_P(DeviceLanguage, ExchangesReturnWhatWasThere) {
  const std::vector<int> values = run(1, 8, exchange, 24);
  std::vector<bool> seen(9, false);
  seen[static_cast<std::size_t>(values[0])] = true;
  for (std::size_t i = 1; i <= 8; ++i) {
    seen[static_cast<std::size_t>(values[i])] = true;
    EXPECT_EQ(1, values[12 + i]);
  }
  EXPECT_EQ(std::vector<bool>(9, true), seen);
  EXPECT_EQ(values[10], values[11]);
}

__global__ void compute(float* out) {
  out[0] = rsqrtf(4.0f);
  out[1] = __expf(1.0f);
  out[2] = __logf(2.0f);
  out[3] = __fdividef(3.0f, 4.0f);
  out[4] = fmaxf(NAN, 2.0f);
  out[5] = fminf(-1.0f, NAN);
  out[6] = __ldg(out + 3);
  const float4 four = *reinterpret_cast<const float4*>(out);
  const float2 two = *reinterpret_cast<const float2*>(out + 2);
  out[7] = four.w + two.y;
}

TEST_P(DeviceLanguage, Arithmetic) {
  const std::vector<float> values = run(1, 1, compute, 8);
  EXPECT_EQ(0.5f, values[0]);
  EXPECT_NEAR(2.7182818, values[1], 1e-6);
  EXPECT_NEAR(0.6931472, values[2], 1e-7);
  EXPECT_EQ(0.75f, values[3]);
  EXPECT_EQ(2.0f, values[4]);
  EXPECT_EQ(-1.0f, values[5]);
  EXPECT_EQ(0.75f, values[6]);
  EXPECT_EQ(1.5f, values[7]);
}

__global__ void round_to_int(int* out) {
  const float values[] = {0.5f, 1.5f, -2.5f, 3e9f, -3e9f, NAN, 2147483520.0f, -2147483648.0f};
  out[threadIdx.x] = __float2int_rn(values[threadIdx.x]);
}

TEST_P(DeviceLanguage, ConversionsSaturateAndRoundToEven) {
  EXPECT_EQ((std::vector<int>{0, 2, -2, INT_MAX, INT_MIN, 0, 2147483520, INT_MIN}),
            run(1, 8, round_to_int, 8));
}

// The last block to come adds up what the others left: fences order what a counter announces.
__global__ void sum_by_the_last(int* out) {
  SHARED_ARRAY(int, is_last, [1]);
  if (threadIdx.x == 0) {
    out[2 + blockIdx.x] = static_cast<int>(blockIdx.x) + 1;
    __threadfence();
    is_last[0] = atomicAdd(out, 1) == static_cast<int>(gridDim.x) - 1 ? 1 : 0;
  }
  __syncthreads();
  if (is_last[0] == 0 || threadIdx.x != 0) {
    return;
  }
  __threadfence();
  for (unsigned block = 0; block < gridDim.x; ++block) {
    out[1] += out[2 + block];
  }
}

TEST_P(DeviceLanguage, FencesOrderWhatACounterAnnounces) {
  EXPECT_EQ(55, run(10, 33, sum_by_the_last, 12)[1]);
}

struct Pair {
  double wide;
  char narrow;
};
struct alignas(16) Vector {
  float values[4];
};

__global__ void read_parameters(int* out, char narrow, Vector vector, short two, Pair pair,
                                const int* none, bool yes) {
  out[0] = narrow + two + static_cast<int>(pair.wide) + pair.narrow;
  out[1] = static_cast<int>(vector.values[0] + vector.values[3]);
  out[2] = static_cast<int>(none == nullptr && yes);
}

TEST_F(DeviceTest, ParametersKeepTheirTypesAndAlignments) {
  int* data = nullptr;
  int values[3] = {};
  CUDA_OK(cudaMalloc(reinterpret_cast<void**>(&data), sizeof(values)));
  // Arguments are converted as in a call.
  CUDA_OK(cuda::launch(nullptr, 1, 1, 0, read_parameters, data, 1, Vector{{2, 0, 0, 3}}, 20,
                       Pair{300.0, 40}, nullptr, true));
  CUDA_OK(cudaMemcpy(values, data, sizeof(values), cudaMemcpyDeviceToHost));
  EXPECT_EQ(361, values[0]);
  EXPECT_EQ(5, values[1]);
  EXPECT_EQ(1, values[2]);
  CUDA_OK(cudaFree(data));
}

}  // namespace
}  // namespace stepscope::cudasim
