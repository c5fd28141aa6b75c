// What tests of own kernels share: a run function is called directly, on fresh operands, in several
// orders of blocks and threads, and must give the same bits in each.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cmath>
#include <cstddef>
#include <cstring>
#include <functional>
#include <limits>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "backends/cuda/device/run.h"
#include "ops/base/philox.h"
#include "tests/backends/cuda/kernels/device_array.h"
#include "tests/backends/cuda/sim/fixture.h"

namespace stepscope::cuda {

inline constexpr double kInf = std::numeric_limits<double>::infinity();
inline constexpr double kNan = std::numeric_limits<double>::quiet_NaN();
inline constexpr double kUnitRoundoff = 0x1p-24;     // f32, round to nearest
inline constexpr double kSmallestNormal = 0x1p-126;  // results below it may be flushed

using Bytes = std::vector<std::byte>;

template <class T>
Bytes bytes_of(const std::vector<T>& values) {
  Bytes bytes(values.size() * sizeof(T));
  std::memcpy(bytes.data(), values.data(), bytes.size());
  return bytes;
}

template <class T = float>
std::vector<T> values_of(const Bytes& bytes) {
  std::vector<T> values(bytes.size() / sizeof(T));
  std::memcpy(values.data(), bytes.data(), bytes.size());
  return values;
}

inline std::vector<float> draw(std::size_t count, std::uint64_t stream, double low = -1.0,
                               double high = 1.0) {
  Philox random(17, stream);
  std::vector<float> values(count);
  for (float& value : values) value = static_cast<float>(random.uniform(low, high));
  return values;
}

inline std::vector<std::int32_t> draw_below(std::size_t count, std::uint64_t bound,
                                            std::uint64_t stream) {
  Philox random(18, stream);
  std::vector<std::int32_t> values(count);
  for (std::int32_t& value : values) value = static_cast<std::int32_t>(random.below(bound));
  return values;
}

// Off by more than `bound`; NaN must be NaN, infinities and exact zeros themselves.
inline bool differs(double expected, double got, double bound) {
  if (std::isnan(expected)) return !std::isnan(got);
  if (std::isinf(expected)) return expected != got;
  if (bound == 0.0 && expected == 0.0)
    return got != 0.0 || std::signbit(got) != std::signbit(expected);
  return !(std::abs(expected - got) <= bound);
}

inline void expect_value(double expected, double got, double bound, const std::string& where) {
  EXPECT_FALSE(differs(expected, got, bound))
      << where << ": " << got << " instead of " << expected << ", bound " << bound;
}

// An output has memory of its own, or lies over an input.
struct Output {
  std::size_t bytes;
  int over = -1;
};

class OwnTest : public cudasim::SimTest {
 protected:
  using Run = std::function<cudaError_t(Submission&, Operands, std::byte* scratch)>;

  // The outputs, which are the same in all orders. Each run starts from the same inputs; those that
  // no output lies over stay as they are. Scratch holds 0xFF at first.
  std::vector<Bytes> outputs_of(const std::vector<Bytes>& in, const std::vector<Output>& out,
                                const Run& run, std::size_t scratch_bytes = 0) {
    using cudasim::Order;
    std::vector<Bytes> first;
    using Orders = std::pair<Order, Order>;  // of blocks, of threads
    for (const auto& [blocks, threads] : {Orders{Order::ascending, Order::ascending},
                                          {Order::descending, Order::descending},
                                          {Order::seeded, Order::ascending},
                                          {Order::ascending, Order::seeded}}) {
      cudasim::set_orders(blocks, threads);
      std::vector<Bytes> got = run_once(in, out, run, scratch_bytes);
      if (first.empty()) first = got;
      EXPECT_TRUE(first == got) << "another result in orders " << static_cast<int>(blocks) << ", "
                                << static_cast<int>(threads);
      if (HasFailure()) return first;
    }
    return first;
  }

 private:
  using Memory = kernels::DeviceArray<std::byte>;

  static std::vector<Bytes> run_once(const std::vector<Bytes>& in, const std::vector<Output>& out,
                                     const Run& run, std::size_t scratch_bytes) {
    std::vector<std::unique_ptr<Memory>> memory;
    std::vector<std::byte*> operands;
    for (const Bytes& bytes : in) {
      memory.push_back(std::make_unique<Memory>(bytes));
      operands.push_back(memory.back()->data());
    }
    std::vector<Memory*> results;
    std::vector<bool> kept(in.size(), true);
    for (const Output& output : out) {
      if (output.over < 0)
        memory.push_back(std::make_unique<Memory>(output.bytes));
      else
        kept[static_cast<std::size_t>(output.over)] = false;
      results.push_back(output.over < 0 ? memory.back().get()
                                        : memory[static_cast<std::size_t>(output.over)].get());
      operands.push_back(results.back()->data());
    }
    const Memory scratch(scratch_bytes + 1);
    Submission to;
    EXPECT_EQ(cudaSuccess, run(to, operands.data(), scratch.data()));
    EXPECT_EQ(cudaSuccess, cudaDeviceSynchronize()) << cudasim::device_fault();
    std::vector<Bytes> got;
    for (const Memory* result : results) got.push_back(result->download());
    for (std::size_t i = 0; i < in.size(); ++i) {
      EXPECT_TRUE(!kept[i] || memory[i]->download() == in[i]) << "input " << i << " was written";
    }
    return got;
  }
};

}  // namespace stepscope::cuda
