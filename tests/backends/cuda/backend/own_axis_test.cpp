// Own kernels along one axis, and rows taken by index, against plain loops.
// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <cstdint>

#include "tests/backends/cuda/backend/own_support.h"

namespace stepscope::cuda {
namespace {

std::string text_of(const Axis& axis) {
  return fmt::format("{{{}, {}, {}}}", axis.outer, axis.depth, axis.inner);
}
std::size_t elements_of(const Axis& axis) {
  return std::size_t{axis.outer} * axis.depth * axis.inner;
}

class OwnAxis : public OwnTest {};

TEST_F(OwnAxis, AddBias) {
  for (const Axis axis : {Axis{1, 1, 1}, {5, 10, 1}, {2, 3, 7}, {3, 130, 2}}) {
    std::vector<float> x = draw(elements_of(axis), 1), bias = draw(axis.depth, 2);
    x.back() = NAN;
    bias.front() = INFINITY;
    for (const int over : {-1, 0}) {
      const auto out = outputs_of({bytes_of(x), bytes_of(bias)}, {{x.size() * sizeof(float), over}},
                                  [&](Submission& to, Operands operands, std::byte*) {
                                    return run_add_bias(to, operands, axis);
                                  });
      const std::vector<float> y = values_of(out[0]);
      for (std::size_t i = 0; i < x.size(); ++i) {
        expect_value(x[i] + bias[i / axis.inner % axis.depth], y[i], 0.0, text_of(axis));
      }
    }
  }
}

TEST_F(OwnAxis, Broadcast) {
  for (const Axis axis : {Axis{1, 1, 1}, {1, 3, 5}, {7, 3, 1}, {2, 17, 33}}) {
    const std::vector<float> x = draw(std::size_t{axis.outer} * axis.inner, 1);
    const std::size_t n = elements_of(axis);
    const auto out = outputs_of({bytes_of(x)}, {{n * sizeof(float)}},
                                [&](Submission& to, Operands operands, std::byte*) {
                                  return run_broadcast(to, operands, axis);
                                });
    const std::vector<float> y = values_of(out[0]);
    for (std::size_t i = 0; i < n; ++i) {
      const std::size_t from = i / (axis.depth * axis.inner) * axis.inner + i % axis.inner;
      expect_value(x[from], y[i], 0.0, text_of(axis));
    }
  }
}

// Sum i is of the elements for which sum_of(element) == i.
template <class Which>
void check_sums(const std::vector<float>& x, const std::vector<float>& y, Which sum_of,
                const std::string& where) {
  std::vector<double> sums(y.size()), sizes(y.size()), terms(y.size());
  for (std::size_t i = 0; i < x.size(); ++i) {
    sums[sum_of(i)] += double{x[i]};
    sizes[sum_of(i)] += std::abs(double{x[i]});
    terms[sum_of(i)] += 1.0;
  }
  for (std::size_t i = 0; i < y.size(); ++i) {
    expect_value(sums[i], y[i], terms[i] * kUnitRoundoff * sizes[i],
                 where + ", sum " + std::to_string(i));
  }
}

TEST_F(OwnAxis, ReduceSum) {
  for (const Axis axis : {Axis{1, 1, 1},
                          {1, 7, 1},
                          {5, 33, 1},
                          {9, 70, 1},
                          {2, 4099, 1},
                          {1, 5, 3},
                          {1, 33, 32},
                          {2, 65, 37},
                          {3, 2, 7},
                          {1, 100, 10}}) {
    std::vector<float> x = draw(elements_of(axis), 3);
    if (x.size() > 20) {
      x[3] = INFINITY;
      x[x.size() - 1] = NAN;
    }
    const std::size_t n = std::size_t{axis.outer} * axis.inner;
    const auto out = outputs_of({bytes_of(x)}, {{n * sizeof(float)}},
                                [&](Submission& to, Operands operands, std::byte*) {
                                  return run_reduce_sum(to, operands, axis);
                                });
    check_sums(
        x, values_of(out[0]),
        [&](std::size_t i) { return i / (axis.depth * axis.inner) * axis.inner + i % axis.inner; },
        text_of(axis));
  }
}

TEST_F(OwnAxis, BiasGrad) {
  for (const Axis axis : {Axis{3, 5, 1}, {2, 3, 49}, {1, 2, 1030}, {40, 33, 1}}) {
    const std::vector<float> x = draw(elements_of(axis), 4);
    const auto out = outputs_of({bytes_of(x)}, {{axis.depth * sizeof(float)}},
                                [&](Submission& to, Operands operands, std::byte*) {
                                  return run_bias_grad(to, operands, axis);
                                });
    check_sums(
        x, values_of(out[0]), [&](std::size_t i) { return i / axis.inner % axis.depth; },
        text_of(axis));
  }
}

// --- rows by index -------------------------------------------------------------------------------

class OwnIndexing : public OwnTest {
 protected:
  template <class T>
  void check_gather(std::uint32_t rows, std::uint32_t row, std::uint32_t N) {
    std::vector<T> table(std::size_t{rows} * row);
    for (std::size_t i = 0; i < table.size(); ++i) table[i] = static_cast<T>(i * 7 + 1);
    const std::vector<std::int32_t> indices = draw_below(N, rows, 5);
    const Indexed numbers{N, rows, row};
    const auto out =
        outputs_of({bytes_of(table), bytes_of(indices)}, {{std::size_t{N} * row * sizeof(T)}},
                   [&](Submission& to, Operands operands, std::byte*) {
                     return run_gather(to, operands, numbers);
                   });
    const std::vector<T> y = values_of<T>(out[0]);
    for (std::size_t i = 0; i < y.size(); ++i) {
      EXPECT_EQ(table[static_cast<std::size_t>(indices[i / row]) * row + i % row], y[i])
          << i << " of rows of " << row;
    }
  }
};

TEST_F(OwnIndexing, Gather) {
  for (const std::uint32_t row : {1U, 3U, 4U, 17U, 64U}) {
    check_gather<float>(7, row, 19);
    check_gather<std::int32_t>(5, row, 11);
  }
}

// Every row's updates in the order of n, from zero: the same bits as a plain loop in f32.
TEST_F(OwnIndexing, ScatterAdd) {
  for (const Indexed& numbers :
       {Indexed{1, 1, 1}, {3, 1, 1}, {70, 3, 5}, {40, 9, 130}, {5, 20, 33}, {33, 2, 260}}) {
    std::vector<float> updates = draw(std::size_t{numbers.N} * numbers.row, 6);
    updates.front() = -0.0F;
    updates.back() = NAN;
    const std::vector<std::int32_t> indices = draw_below(numbers.N, numbers.rows, 7);
    std::vector<float> expected(std::size_t{numbers.rows} * numbers.row);
    for (std::size_t i = 0; i < updates.size(); ++i) {
      expected[static_cast<std::size_t>(indices[i / numbers.row]) * numbers.row +
               i % numbers.row] += updates[i];
    }
    const auto out =
        outputs_of({bytes_of(updates), bytes_of(indices)}, {{expected.size() * sizeof(float)}},
                   [&](Submission& to, Operands operands, std::byte*) {
                     return run_scatter_add(to, operands, numbers);
                   });
    const std::vector<float> y = values_of(out[0]);
    for (std::size_t i = 0; i < y.size(); ++i) {
      expect_value(expected[i], y[i], 0.0,
                   std::to_string(i) + " of " + std::to_string(numbers.rows));
    }
  }
}

}  // namespace
}  // namespace stepscope::cuda
