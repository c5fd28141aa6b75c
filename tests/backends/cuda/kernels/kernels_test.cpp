// Values of the kernels against a double reference, at odd sizes, in every order of blocks and
// threads. The same cases run in the release, the AddressSanitizer and the ThreadSanitizer build.
// SPDX-License-Identifier: Apache-2.0
#include "tests/backends/cuda/kernels/kernels.h"

#include <cmath>
#include <string>

#include "ops/base/philox.h"
#include "tests/backends/cuda/kernels/device_array.h"
#include "tests/backends/cuda/sim/fixture.h"

namespace stepscope::kernels {
namespace {

constexpr double kEpsilon = 6e-8;  // half a unit in the last place of 1.0f

std::vector<float> draw(std::size_t count, std::uint64_t stream) {
  Philox random(7, stream);
  std::vector<float> values(count);
  for (float& value : values) {
    value = static_cast<float>(random.uniform(-1.0, 1.0));
  }
  return values;
}

std::vector<int> draw_below(std::size_t count, int bound, std::uint64_t stream) {
  Philox random(8, stream);
  std::vector<int> values(count);
  for (int& value : values) {
    value = static_cast<int>(random.below(static_cast<std::uint64_t>(bound)));
  }
  return values;
}

// A sum of `terms` products of size 1; a NaN fails.
void expect_close(double expected, float value, double terms, const std::string& where) {
  EXPECT_TRUE(std::abs(expected - value) <= (terms + 8) * kEpsilon)
      << where << ": " << value << " instead of " << expected;
}

class Kernels : public cudasim::SimTest {
 protected:
  // Runs the case in every order, each time on outputs of NaN: what one order leaves must not help
  // the next.
  template <class Case, class... Outputs>
  void in_all_orders(Case run, const Outputs&... outputs) {
    using cudasim::Order;
    for (const Order blocks : {Order::ascending, Order::descending, Order::seeded}) {
      for (const Order threads : {Order::ascending, Order::descending, Order::seeded}) {
        cudasim::set_orders(blocks, threads);
        (outputs.forget(), ...);
        run();
        if (HasFailure()) {
          FAIL() << "in orders " << static_cast<int>(blocks) << ", " << static_cast<int>(threads);
        }
      }
    }
  }
};

TEST_F(Kernels, Sum) {
  for (const int n : {1, 31, 640, 1001}) {
    const std::vector<float> in = draw(static_cast<std::size_t>(n), 1);
    double expected = 0.0;
    for (const float value : in) {
      expected += value;
    }
    const DeviceArray<float> device_in(in), out(1), scratch(kSumBlocks);
    in_all_orders(
        [&] {
          ASSERT_EQ(cudaSuccess,
                    launch_sum(nullptr, out.data(), scratch.data(), device_in.data(), n));
          expect_close(expected, out.download()[0], n, "sum of " + std::to_string(n));
        },
        out, scratch);
  }
}

void check_softmax_row(const float* logits, int label, int rows, int columns, float loss,
                       const float* gradient, const std::string& where) {
  double most = -INFINITY, sum = 0.0;
  for (int c = 0; c < columns; ++c) {
    most = std::max<double>(most, logits[c]);
  }
  for (int c = 0; c < columns; ++c) {
    sum += std::exp(logits[c] - most);
  }
  expect_close(std::log(sum) + most - logits[label], loss, columns, where + ", loss");
  for (int c = 0; c < columns; ++c) {
    const double expected = (std::exp(logits[c] - most) / sum - (c == label)) / rows;
    expect_close(expected, gradient[c], columns, where + ", column " + std::to_string(c));
  }
}

TEST_F(Kernels, SoftmaxXent) {
  for (const auto& [rows, columns] : {std::pair{1, 1}, {5, 10}, {9, 33}, {4, 70}}) {
    const auto elements = static_cast<std::size_t>(rows * columns);
    const std::vector<float> logits = draw(elements, 2);
    const std::vector<int> labels = draw_below(static_cast<std::size_t>(rows), columns, 3);
    const DeviceArray<float> device_logits(logits), gradient(elements);
    const DeviceArray<float> loss(static_cast<std::size_t>(rows));
    const DeviceArray<int> device_labels(labels);
    in_all_orders(
        [&, rows = rows, columns = columns] {
          ASSERT_EQ(cudaSuccess,
                    launch_softmax_xent(nullptr, loss.data(), gradient.data(), device_logits.data(),
                                        device_labels.data(), rows, columns));
          const std::vector<float> losses = loss.download(), gradients = gradient.download();
          for (int row = 0; row < rows; ++row) {
            const auto first = static_cast<std::size_t>(row * columns);
            const auto index = static_cast<std::size_t>(row);
            check_softmax_row(&logits[first], labels[index], rows, columns, losses[index],
                              &gradients[first], "row " + std::to_string(row));
          }
        },
        gradient, loss);
  }
}

TEST_F(Kernels, Transpose) {
  for (const auto& [rows, columns] : {std::pair{1, 1}, {16, 32}, {17, 5}, {19, 50}}) {
    const auto elements = static_cast<std::size_t>(rows * columns);
    const std::vector<float> in = draw(elements, 4);
    const DeviceArray<float> device_in(in), out(elements);
    in_all_orders(
        [&, rows = rows, columns = columns] {
          ASSERT_EQ(cudaSuccess,
                    launch_transpose(nullptr, out.data(), device_in.data(), rows, columns));
          const std::vector<float> values = out.download();
          for (int row = 0; row < rows; ++row) {
            for (int column = 0; column < columns; ++column) {
              ASSERT_EQ(in[static_cast<std::size_t>(row * columns + column)],
                        values[static_cast<std::size_t>(column * rows + row)])
                  << rows << " x " << columns << " at " << row << ", " << column;
            }
          }
        },
        out);
  }
}

// The values of a scan, run by `in_order`: a function that runs a case in one order or in all.
template <class InOrder>
void check_scan(int n, InOrder in_order) {
  const auto count = static_cast<std::size_t>(n);
  const std::vector<int> in = draw_below(count, 100, 5);
  std::vector<int> expected(in);
  for (std::size_t i = 1; i < count; ++i) {
    expected[i] += expected[i - 1];
  }
  const DeviceArray<int> device_in(in), out(count);
  const DeviceArray<int> sums(static_cast<std::size_t>(scan_blocks(n)));
  in_order(
      [&] {
        ASSERT_EQ(cudaSuccess,
                  launch_inclusive_scan(nullptr, out.data(), sums.data(), device_in.data(), n));
        EXPECT_EQ(expected, out.download()) << n;
      },
      out, sums);
}

TEST_F(Kernels, InclusiveScan) {
  for (const int n : {1, 95, 96, 403}) {
    check_scan(n, [this](auto run, const auto&... outputs) { in_all_orders(run, outputs...); });
  }
}

// More blocks than one block scans at once; in one order, since it is long under ThreadSanitizer.
TEST_F(Kernels, InclusiveScanOfManyBlocks) {
  check_scan(9500, [](auto run, const auto&...) { run(); });
}

TEST_F(Kernels, ColumnSums) {
  for (const auto& [rows, columns] : {std::pair{1, 1}, {32, 10}, {7, 33}, {3, 64}}) {
    const std::vector<float> in = draw(static_cast<std::size_t>(rows * columns), 6);
    const DeviceArray<float> device_in(in), out(static_cast<std::size_t>(columns));
    in_all_orders(
        [&, rows = rows, columns = columns] {
          ASSERT_EQ(cudaSuccess,
                    launch_column_sums(nullptr, out.data(), device_in.data(), rows, columns));
          const std::vector<float> values = out.download();
          for (int column = 0; column < columns; ++column) {
            double expected = 0.0;
            for (int row = 0; row < rows; ++row) {
              expected += in[static_cast<std::size_t>(row * columns + column)];
            }
            expect_close(expected, values[static_cast<std::size_t>(column)], rows,
                         "column " + std::to_string(column));
          }
        },
        out);
  }
}

TEST_F(Kernels, Histogram) {
  for (const int n : {1, 63, 1000}) {
    const std::vector<int> in = draw_below(static_cast<std::size_t>(n), kBins, 7);
    std::vector<unsigned> expected(kBins, 0);
    for (const int bin : in) {
      ++expected[static_cast<std::size_t>(bin)];
    }
    const DeviceArray<int> device_in(in);
    DeviceArray<unsigned> counts(kBins);
    in_all_orders([&] {
      counts.upload(std::vector<unsigned>(kBins, 0));
      ASSERT_EQ(cudaSuccess, launch_histogram(nullptr, counts.data(), device_in.data(), n));
      EXPECT_EQ(expected, counts.download()) << n;
    });
  }
}

TEST_F(Kernels, Sgd) {
  for (const int n : {1, 3, 256, 1003}) {
    const auto count = static_cast<std::size_t>(n);
    const std::vector<float> weights = draw(count, 8), gradient = draw(count, 9);
    DeviceArray<float> device_weights(count);
    const DeviceArray<float> device_gradient(gradient), rate(std::vector<float>{0.25f});
    in_all_orders([&] {
      device_weights.upload(weights);
      ASSERT_EQ(cudaSuccess,
                launch_sgd(nullptr, device_weights.data(), device_gradient.data(), rate.data(), n));
      const std::vector<float> values = device_weights.download();
      for (std::size_t i = 0; i < count; ++i) {
        expect_close(double{weights[i]} - 0.25 * gradient[i], values[i], 1,
                     "weight " + std::to_string(i));
      }
    });
  }
}

TEST_F(Kernels, BoxFilter) {
  for (const auto& [n, radius] : {std::pair{1, 0}, {64, 3}, {201, 20}, {130, 70}}) {
    const auto count = static_cast<std::size_t>(n);
    const std::vector<float> in = draw(count, 10);
    const DeviceArray<float> device_in(in), out(count);
    in_all_orders(
        [&, n = n, radius = radius] {
          ASSERT_EQ(cudaSuccess,
                    launch_box_filter(nullptr, out.data(), device_in.data(), n, radius));
          const std::vector<float> values = out.download();
          for (int i = 0; i < n; ++i) {
            double sum = 0.0;
            for (int k = std::max(0, i - radius); k <= std::min(n - 1, i + radius); ++k) {
              sum += in[static_cast<std::size_t>(k)];
            }
            expect_close(sum / (2 * radius + 1), values[static_cast<std::size_t>(i)],
                         2 * radius + 1, "element " + std::to_string(i));
          }
        },
        out);
  }
}

}  // namespace
}  // namespace stepscope::kernels
