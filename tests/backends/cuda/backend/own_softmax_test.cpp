// Own kernels of classified rows against plain loops in double: one block and several, labels left
// out, rows spoiled by NaN and infinities.
// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <cstdint>

#include "tests/backends/cuda/backend/own_support.h"

namespace stepscope::cuda {
namespace {

// One block as rows_of() would have it, a few lanes a row, and several small blocks.
std::vector<Rows> all_rows(bool has_factor) {
  std::vector<Rows> all;
  for (const auto& [N, C] :
       {std::pair{1U, 2U}, {3U, 1U}, {5U, 10U}, {9U, 33U}, {4U, 70U}, {70U, 3U}, {1030U, 1U}}) {
    all.push_back(rows_of(N, C, has_factor));
  }
  all.push_back({23, 5, has_factor, 4, 64, 2});  // the second block has 7 rows, none in its last
  all.push_back({70, 9, has_factor, 8, 32, 3});  // each block comes round again and again
  all.push_back({3, 40, has_factor, 32, 64, 2});
  return all;
}

std::string text_of(const Rows& rows) {
  return fmt::format("{{{}, {}}} in {} blocks", rows.N, rows.C, rows.blocks);
}

struct Data {
  std::vector<float> logits;
  std::vector<std::int32_t> labels;
};

Data data_of(const Rows& rows, bool spoiled) {
  Data data{draw(std::size_t{rows.N} * rows.C, 1, -6.0, 6.0), draw_below(rows.N, rows.C, 2)};
  if (rows.N > 3) {
    data.labels[1] = -1;
    data.labels[rows.N - 1] = -1;
    data.logits[rows.C] = NAN;  // of a row left out
  }
  if (spoiled) {
    data.logits[0] = NAN;
    if (rows.N > 2) data.logits[std::size_t{2} * rows.C] = INFINITY;
    if (rows.N > 3) data.logits[std::size_t{3} * rows.C] = -INFINITY;
  }
  return data;
}

struct Expected {
  double loss = 0.0, left = 0.0;
  std::vector<double> probabilities;
};

Expected expected_of(const Rows& rows, const Data& data) {
  Expected expected;
  for (std::uint32_t n = 0; n < rows.N; ++n) {
    const float* x = data.logits.data() + std::size_t{n} * rows.C;
    double most = -kInf, sum = 0.0;
    for (std::uint32_t c = 0; c < rows.C; ++c)
      most = std::isnan(x[c]) ? kNan : std::max<double>(most, x[c]);
    for (std::uint32_t c = 0; c < rows.C; ++c) sum += std::exp(x[c] - most);
    for (std::uint32_t c = 0; c < rows.C; ++c) {
      expected.probabilities.push_back(std::exp(x[c] - most) / sum);
    }
    if (data.labels[n] < 0) continue;
    expected.left += 1.0;
    expected.loss += std::log(sum) - (x[data.labels[n]] - most);
  }
  expected.loss /= expected.left;
  return expected;
}

// Roundings of a probability: a distance of up to 12, the exponents, the sum, the quotient.
double roundings(const Rows& rows) { return 12.0 + 6.0 + 2.0 + 12.0 + 6.0 + rows.C; }

// The loss: those of a row, the logarithm, and the mean, on losses of up to 12 + log(C).
void check_loss(const Rows& rows, const Expected& expected, float loss) {
  const double bound = kUnitRoundoff * (roundings(rows) + (8.0 + 2.0) * (12.0 + std::log(rows.C)));
  expect_value(expected.loss, loss, bound, text_of(rows) + ", loss");
}

double slope(const Expected& expected, const Data& data, const Rows& rows, std::size_t i, double p,
             double factor) {
  const std::int32_t label = data.labels[i / rows.C];
  if (label < 0) return 0.0;
  return (p - (label == static_cast<std::int32_t>(i % rows.C) ? 1.0 : 0.0)) / expected.left *
         factor;
}

class OwnSoftmax : public OwnTest {
 protected:
  using RunTotal = cudaError_t (*)(Submission&, Operands, std::byte*, const Rows&);
  // Twice, so that what one launch leaves of the ticket is seen by the next.
  std::vector<Bytes> total_of(RunTotal run, const std::vector<Bytes>& in,
                              const std::vector<Output>& out, Rows rows) {
    const kernels::DeviceArray<std::uint32_t> ticket(std::vector<std::uint32_t>{0});
    rows.ticket = rows.tickets() == 0 ? nullptr : ticket.data();
    const auto twice = [&](Submission& to, Operands operands, std::byte* scratch) {
      const cudaError_t result = run(to, operands, scratch, rows);
      return result == cudaSuccess ? run(to, operands, scratch, rows) : result;
    };
    std::vector<Bytes> got = outputs_of(in, out, twice, rows.partial_bytes());
    EXPECT_EQ(0U, ticket.download()[0]);
    return got;
  }
  static std::vector<Output> loss_and(const Rows& rows) {
    return {{sizeof(float)}, {std::size_t{rows.N} * rows.C * sizeof(float)}};
  }
};

TEST_F(OwnSoftmax, Probabilities) {
  for (const Rows& rows : all_rows(false)) {
    for (const bool spoiled : {false, true}) {
      const Data data = data_of(rows, spoiled);
      const Expected expected = expected_of(rows, data);
      const auto out = total_of(run_softmax, {bytes_of(data.logits), bytes_of(data.labels)},
                                loss_and(rows), rows);
      check_loss(rows, expected, values_of(out[0])[0]);
      const std::vector<float> p = values_of(out[1]);
      for (std::size_t i = 0; i < p.size(); ++i) {
        expect_value(expected.probabilities[i], p[i],
                     kUnitRoundoff * roundings(rows) * expected.probabilities[i] + kSmallestNormal,
                     text_of(rows) + ", probability " + std::to_string(i));
      }
    }
  }
}

TEST_F(OwnSoftmax, WithGrad) {
  for (const bool has_rate : {false, true}) {
    for (const Rows& rows : all_rows(has_rate)) {
      const Data data = data_of(rows, has_rate);
      const Expected expected = expected_of(rows, data);
      const std::vector<float> rate = {0.3F};
      std::vector<Bytes> in = {bytes_of(data.logits), bytes_of(data.labels)};
      if (has_rate) in.push_back(bytes_of(rate));
      const auto out = total_of(run_softmax_with_grad, in, loss_and(rows), rows);
      check_loss(rows, expected, values_of(out[0])[0]);
      const double factor = has_rate ? double{rate[0]} : 1.0;
      const std::vector<float> slopes = values_of(out[1]);
      for (std::size_t i = 0; i < slopes.size(); ++i) {
        const double p = expected.probabilities[i];
        const bool left_out = data.labels[i / rows.C] < 0;
        const double bound =
            left_out ? 0.0 : kUnitRoundoff * (roundings(rows) * p + 4.0) / expected.left * factor;
        expect_value(slope(expected, data, rows, i, p, factor), slopes[i], bound,
                     text_of(rows) + ", slope " + std::to_string(i));
      }
    }
  }
}

TEST_F(OwnSoftmax, Grad) {
  for (const bool has_d_loss : {false, true}) {
    for (const Rows& rows : all_rows(has_d_loss)) {
      Data data = data_of(rows, false);
      const Expected expected = expected_of(rows, data);
      std::vector<float> p = draw(data.logits.size(), 3, 0.0, 1.0);
      if (rows.N > 3) p[rows.C] = NAN;  // of a row left out
      const std::vector<float> d_loss = {-2.0F};
      std::vector<Bytes> in = {bytes_of(p), bytes_of(data.labels)};
      if (has_d_loss) in.push_back(bytes_of(d_loss));
      for (const int over : {-1, 0}) {
        const auto out = outputs_of(in, {{p.size() * sizeof(float), over}},
                                    [&](Submission& to, Operands operands, std::byte*) {
                                      return run_softmax_grad(to, operands, rows);
                                    });
        const std::vector<float> slopes = values_of(out[0]);
        for (std::size_t i = 0; i < slopes.size(); ++i) {
          const double value =
              slope(expected, data, rows, i, p[i], has_d_loss ? double{d_loss[0]} : 1.0);
          expect_value(value, slopes[i], 4.0 * kUnitRoundoff * std::abs(value),
                       text_of(rows) + ", slope " + std::to_string(i));
        }
      }
    }
  }
}

// With no row left the loss is NaN and every slope +0, in one block and in several.
TEST_F(OwnSoftmax, NoRowLeft) {
  for (const Rows& rows : {rows_of(5, 3, false), Rows{9, 3, false, 2, 32, 2}}) {
    const std::vector<std::int32_t> labels(rows.N, -1);
    const auto out = total_of(run_softmax_with_grad,
                              {bytes_of(draw(std::size_t{rows.N} * rows.C, 4)), bytes_of(labels)},
                              loss_and(rows), rows);
    EXPECT_TRUE(std::isnan(values_of(out[0])[0]));
    for (const float slope : values_of(out[1])) expect_value(0.0, slope, 0.0, text_of(rows));
  }
}

// --- argmax --------------------------------------------------------------------------------------

// Ties, NaN and zeros of both signs among few different values.
std::vector<float> coarse(const Rows& rows) {
  std::vector<float> x;
  for (const std::int32_t value : draw_below(std::size_t{rows.N} * rows.C, 6, 5)) {
    x.push_back(value == 5 ? (x.size() % 7 == 0 ? NAN : -INFINITY)
                           : (value == 0 ? -0.0F : static_cast<float>(value / 2)));
  }
  return x;
}

std::int32_t argmax_of(const float* row, std::uint32_t C) {
  std::uint32_t best = 0;
  for (std::uint32_t c = 0; c < C; ++c) {
    if (std::isnan(row[c])) return static_cast<std::int32_t>(c);
    if (row[c] > row[best]) best = c;
  }
  return static_cast<std::int32_t>(best);
}

TEST_F(OwnSoftmax, ArgmaxAndCount) {
  for (const Rows& rows : all_rows(false)) {
    std::vector<float> x = coarse(rows);
    for (std::uint32_t c = 0; c < rows.C; ++c) x[c] = -INFINITY;  // the first still is the largest
    std::vector<std::int32_t> expected, labels = draw_below(rows.N, rows.C, 6);
    std::int32_t correct = 0;
    for (std::uint32_t n = 0; n < rows.N; ++n) {
      expected.push_back(argmax_of(x.data() + std::size_t{n} * rows.C, rows.C));
      if (n % 3 == 0) labels[n] = expected.back();
      if (n % 5 == 4) labels[n] = -1;
      if (labels[n] == expected.back()) ++correct;
    }
    const auto found = outputs_of({bytes_of(x)}, {{rows.N * sizeof(std::int32_t)}},
                                  [&](Submission& to, Operands operands, std::byte*) {
                                    return run_argmax(to, operands, rows);
                                  });
    EXPECT_EQ(expected, values_of<std::int32_t>(found[0])) << text_of(rows);
    const auto counted = total_of(run_correct_count, {bytes_of(x), bytes_of(labels)},
                                  {{sizeof(std::int32_t)}}, rows);
    EXPECT_EQ(correct, values_of<std::int32_t>(counted[0])[0]) << text_of(rows);
  }
}

// How rows are dealt out: whole warps, groups that divide a warp, all rows reached.
TEST(RowsOf, WholeWarpsAndGroups) {
  for (const std::uint32_t N : {1U, 2U, 31U, 32U, 33U, 1000U, 1024U, 1025U, 70000U, 1U << 24}) {
    for (const std::uint32_t C : {1U, 2U, 10U, 31U, 33U, 127U}) {
      const Rows rows = rows_of(N, C, false);
      EXPECT_EQ(0U, rows.threads % 32) << N << " x " << C;
      EXPECT_TRUE(rows.threads >= 32 && rows.threads <= kRowThreads) << N << " x " << C;
      EXPECT_TRUE(rows.group >= 1 && rows.group <= 32 && 32 % rows.group == 0) << N << " x " << C;
      EXPECT_TRUE(rows.blocks >= 1 && rows.blocks <= kMostRowBlocks) << N << " x " << C;
      EXPECT_EQ(std::uint64_t{N} * C <= 32768, rows.blocks == 1) << N << " x " << C;
    }
  }
  EXPECT_EQ(1U, rows_of(1024, 10, false).blocks);
  EXPECT_EQ(kMostRowBlocks, rows_of(4096, 10, false).blocks);
}

}  // namespace
}  // namespace stepscope::cuda
