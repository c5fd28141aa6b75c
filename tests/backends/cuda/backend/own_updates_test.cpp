// Own updates against plain loops: one tensor and several, of sizes around a vector and a block,
// over a few steps, with the rate and the step count in device memory.
// SPDX-License-Identifier: Apache-2.0
#include <cstdint>

#include "tests/backends/cuda/backend/own_support.h"

namespace stepscope::cuda {
namespace {

using Tensors = std::vector<std::vector<float>>;

Tensors draw_tensors(const std::vector<std::uint32_t>& sizes, std::uint64_t stream, double low) {
  Tensors tensors;
  for (const std::uint32_t size : sizes) {
    tensors.push_back(draw(size, stream * 100 + tensors.size(), low, 1.0));
  }
  return tensors;
}

const std::vector<std::vector<std::uint32_t>> kParameters = {
    {1}, {4}, {1027}, {7, 1}, {1024, 3, 2050}, {5, 1024, 1, 1025, 2, 130, 9}};

class OwnUpdates : public OwnTest {
 protected:
  // w, g, then states; all of them, and the scalars behind. Results lie over w and the states.
  struct Operands_ {
    std::vector<Bytes> in;
    std::vector<Output> out;
  };

  static Update update_of(const std::vector<std::uint32_t>& sizes, bool advance) {
    Update numbers{};
    numbers.tensors = static_cast<int>(sizes.size());
    numbers.advance_step = advance;
    for (std::size_t t = 0; t < sizes.size(); ++t) numbers.elements[t] = sizes[t];
    return numbers;
  }

  static Operands_ operands_of(const std::vector<Tensors>& kinds, bool rate, bool step,
                               bool advance) {
    Operands_ operands;
    for (const Tensors& kind : kinds) {
      for (const auto& tensor : kind) operands.in.push_back(bytes_of(tensor));
    }
    const std::size_t tensors = kinds[0].size();
    for (std::size_t k = 0; k < kinds.size(); ++k) {
      if (k == 1) continue;  // gradients
      for (std::size_t t = 0; t < tensors; ++t) {
        operands.out.push_back(
            {operands.in[k * tensors + t].size(), static_cast<int>(k * tensors + t)});
      }
    }
    if (rate) operands.in.push_back(bytes_of(std::vector<float>{kRate}));
    if (step) operands.in.push_back(bytes_of(std::vector<std::int32_t>{kFinished}));
    if (advance) {
      operands.out.push_back({sizeof(std::int32_t), static_cast<int>(operands.in.size()) - 1});
    }
    return operands;
  }

  static constexpr float kRate = 0.1F;
  static constexpr std::int32_t kFinished = 41;
  static constexpr int kSteps =
      3;  // in one run, so that what one launch leaves is seen by the next

  template <class RunUpdate>
  std::vector<Bytes> stepped(const Operands_& operands, const Update& numbers, RunUpdate run) {
    return outputs_of(operands.in, operands.out,
                      [&](Submission& to, Operands addresses, std::byte*) {
                        for (int s = 0; s < kSteps; ++s) {
                          const cudaError_t result = run(to, addresses, numbers);
                          if (result != cudaSuccess) return result;
                        }
                        return cudaSuccess;
                      });
  }

  static void check_step(const std::vector<Bytes>& out, bool advance) {
    if (advance) {
      EXPECT_EQ(kFinished + kSteps, values_of<std::int32_t>(out.back())[0]);
    }
  }

  // Differences of at most `roundings` in each step, on values of size 4 at most.
  static void check_tensors(const Tensors& expected, const std::vector<Bytes>& out,
                            std::size_t first, double roundings) {
    for (std::size_t t = 0; t < expected.size(); ++t) {
      const std::vector<float> got = values_of(out[first + t]);
      ASSERT_EQ(expected[t].size(), got.size());
      for (std::size_t i = 0; i < got.size(); ++i) {
        expect_value(expected[t][i], got[i], kSteps * roundings * 4.0 * kUnitRoundoff,
                     "result " + std::to_string(first + t) + ", element " + std::to_string(i));
      }
    }
  }
};

TEST_F(OwnUpdates, Sgd) {
  for (const auto& sizes : kParameters) {
    for (const bool scaled : {false, true}) {
      for (const bool advance : {false, true}) {
        Tensors w = draw_tensors(sizes, 1, -1.0), g = draw_tensors(sizes, 2, -1.0);
        g.back().back() = NAN;
        g.front().front() = INFINITY;
        Update numbers = update_of(sizes, advance);
        numbers.scaled_gradient = scaled;
        const auto out = stepped(operands_of({w, g}, !scaled, advance, advance), numbers, run_sgd);
        for (std::size_t t = 0; t < w.size(); ++t) {
          for (std::size_t i = 0; i < w[t].size(); ++i) {
            for (int s = 0; s < kSteps; ++s) w[t][i] -= scaled ? g[t][i] : kRate * g[t][i];
          }
        }
        check_tensors(w, out, 0, 2.0);
        check_step(out, advance);
      }
    }
  }
}

TEST_F(OwnUpdates, Momentum) {
  for (const auto& sizes : kParameters) {
    for (const bool advance : {false, true}) {
      Tensors w = draw_tensors(sizes, 1, -1.0), v = draw_tensors(sizes, 3, -1.0);
      const Tensors g = draw_tensors(sizes, 2, -1.0);
      v.back().back() = NAN;
      Update numbers = update_of(sizes, advance);
      numbers.mu = 0.9F;
      const auto out =
          stepped(operands_of({w, g, v}, true, advance, advance), numbers, run_momentum);
      for (std::size_t t = 0; t < w.size(); ++t) {
        for (std::size_t i = 0; i < w[t].size(); ++i) {
          for (int s = 0; s < kSteps; ++s) {
            v[t][i] = 0.9F * v[t][i] + g[t][i];
            w[t][i] -= kRate * v[t][i];
          }
        }
      }
      check_tensors(w, out, 0, 4.0);
      check_tensors(v, out, w.size(), 3.0);
      check_step(out, advance);
    }
  }
}

// One element of Adam in double, at step t.
void adam(float& w, float g, float& m, float& v, const Update& numbers, double t, double rate) {
  m = static_cast<float>(numbers.beta1 * m + (1.0 - numbers.beta1) * g);
  v = static_cast<float>(numbers.beta2 * v + (1.0 - numbers.beta2) * g * g);
  const double mean = m / (1.0 - std::pow(numbers.beta1, t));
  const double square = v / (1.0 - std::pow(numbers.beta2, t));
  w = static_cast<float>(w - rate * mean / (std::sqrt(square) + double{numbers.epsilon}));
}

TEST_F(OwnUpdates, Adam) {
  for (const auto& sizes : kParameters) {
    for (const bool advance : {false, true}) {
      Tensors w = draw_tensors(sizes, 1, -1.0), g = draw_tensors(sizes, 2, -1.0);
      Tensors m = draw_tensors(sizes, 3, -1.0), v = draw_tensors(sizes, 4, 0.25);
      g.front().back() = INFINITY;
      Update numbers = update_of(sizes, advance);
      numbers.beta1 = 0.9;
      numbers.beta2 = 0.999;
      numbers.epsilon = 1e-8F;
      const kernels::DeviceArray<std::uint32_t> ticket(std::vector<std::uint32_t>{0});
      numbers.ticket = ticket.data();
      const auto out = stepped(operands_of({w, g, m, v}, true, true, advance), numbers, run_adam);
      for (std::size_t t = 0; t < w.size(); ++t) {
        for (std::size_t i = 0; i < w[t].size(); ++i) {
          for (int s = 0; s < kSteps; ++s) {
            const double step = kFinished + 1 + (advance ? s : 0);
            adam(w[t][i], g[t][i], m[t][i], v[t][i], numbers, step, kRate);
          }
        }
      }
      check_tensors(w, out, 0, 16.0);
      check_tensors(m, out, w.size(), 4.0);
      check_tensors(v, out, 2 * w.size(), 4.0);
      check_step(out, advance);
      EXPECT_EQ(0U, ticket.download()[0]) << "the next launch counts no step";
    }
  }
}

}  // namespace
}  // namespace stepscope::cuda
