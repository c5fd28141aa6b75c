// The own kernel of MatMulSgdUpdate against plain loops in double: tiles and shares of K cut short,
// transposes, the bias and other parameters beside it, several launches in a row.
// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <cstdint>

#include "tests/backends/cuda/backend/own_support.h"

namespace stepscope::cuda {
namespace {

struct Sizes {
  std::uint32_t M, N, K;
};

struct Case {
  Sizes sizes;
  bool transpose_a, transpose_b, bias, advance;
  std::vector<std::uint32_t> others;  // elements of each, with a gradient
  std::uint32_t depths = 1;           // of a share
};

std::string text_of(const Case& each) {
  return fmt::format("{}x{}x{}{}{}{}{}, {} others", each.sizes.M, each.sizes.K, each.sizes.N,
                     each.transpose_a ? ", ta" : "", each.transpose_b ? ", tb" : "",
                     each.bias ? ", bias" : "", each.advance ? ", advance" : "",
                     each.others.size());
}

// One row and column; a tile and one more, of rows and of columns; K around a depth; shares of one
// depth and, as only a long K has them, of two, the last one short. Few, since a block of 256
// threads is slow under ThreadSanitizer.
std::vector<Case> cases() {
  return {{{1, 1, 1}, true, false, true, false, {5}},
          {{31, 5, 127}, true, false, true, true, {1024, 1027}},
          {{32, 16, 128}, true, false, false, false, {1}},
          {{33, 17, 129}, true, false, true, true, {}},
          {{33, 5, 9}, false, true, false, true, {7, 3}},
          {{3, 4, 9}, false, false, true, false, {}},
          {{4, 3, 9}, true, true, false, false, {2}},
          {{3, 4, 600}, true, false, true, true, {}, 2}};
}

SmallUpdate numbers_of(const Case& each) {
  SmallUpdate numbers{};
  numbers.M = each.sizes.M;
  numbers.N = each.sizes.N;
  numbers.K = each.sizes.K;
  numbers.transpose_a = each.transpose_a;
  numbers.transpose_b = each.transpose_b;
  numbers.bias = each.bias;
  numbers.advance_step = each.advance;
  if (each.bias) numbers.elements[numbers.tensors++] = each.sizes.N;
  for (const std::uint32_t elements : each.others) numbers.elements[numbers.tensors++] = elements;
  numbers = dealt_out(numbers);
  numbers.share = each.depths * SmallUpdate::kDepth;
  numbers.shares = (numbers.K - 1) / numbers.share + 1;
  return numbers;
}

constexpr std::int32_t kFinished = 41;
constexpr int kLaunches = 2;  // what the first leaves of its tickets is seen by the second

struct Data {
  std::vector<float> w, a, b, bias;
  std::vector<std::vector<float>> others, gradients;
};

Data data_of(const Case& each) {
  const auto& [M, N, K] = each.sizes;
  Data data{draw(M * N, 1), draw(M * K, 2), draw(K * N, 3), draw(each.bias ? N : 0, 4), {}, {}};
  for (const std::uint32_t elements : each.others) {
    data.others.push_back(draw(elements, 10 + data.others.size()));
    data.gradients.push_back(draw(elements, 20 + data.gradients.size()));
  }
  return data;
}

class OwnSmallUpdate : public OwnTest {
 protected:
  std::vector<Bytes> updated(const Case& each, const Data& data) {
    SmallUpdate numbers = numbers_of(each);
    std::vector<Bytes> in = {bytes_of(data.w), bytes_of(data.a), bytes_of(data.b)};
    std::vector<Output> out = {{in[0].size(), 0}};
    const auto parameter = [&](const std::vector<float>& values) {
      out.push_back({values.size() * sizeof(float), static_cast<int>(in.size())});
      in.push_back(bytes_of(values));
    };
    if (each.bias) parameter(data.bias);
    for (const auto& other : data.others) parameter(other);
    for (const auto& gradient : data.gradients) in.push_back(bytes_of(gradient));
    if (each.advance) {
      out.push_back({sizeof(std::int32_t), static_cast<int>(in.size())});
      in.push_back(bytes_of(std::vector<std::int32_t>{kFinished}));
    }
    const kernels::DeviceArray<std::uint32_t> tickets(
        std::vector<std::uint32_t>(numbers.tickets() + 1, 0));
    numbers.ticket = numbers.tickets() == 0 ? nullptr : tickets.data();
    const auto run = [&](Submission& to, Operands operands, std::byte* scratch) {
      cudaError_t result = cudaSuccess;
      for (int i = 0; i < kLaunches && result == cudaSuccess; ++i) {
        result = run_small_update(to, operands, scratch, numbers);
      }
      return result;
    };
    std::vector<Bytes> got = outputs_of(in, out, run, numbers.partial_bytes());
    for (const std::uint32_t ticket : tickets.download()) EXPECT_EQ(0U, ticket);
    return got;
  }
};

// Each launch takes the same off again; a sum of K terms of size 1 at most, in whatever order.
void check_difference(float before, double sum, double size, std::uint32_t K, float got,
                      const std::string& where) {
  const double bound =
      kLaunches * kUnitRoundoff * ((K + 2.0) * size + kLaunches * size + std::abs(before) + 1.0);
  expect_value(before - kLaunches * sum, got, bound, where);
}

void check_product(const Case& each, const Data& data, const std::vector<float>& got) {
  const auto& [M, N, K] = each.sizes;
  for (std::uint32_t m = 0; m < M; ++m) {
    for (std::uint32_t n = 0; n < N; ++n) {
      double sum = 0.0, size = 0.0;
      for (std::uint32_t k = 0; k < K; ++k) {
        const double a = data.a[each.transpose_a ? k * M + m : m * K + k];
        const double b = data.b[each.transpose_b ? n * K + k : k * N + n];
        sum += a * b;
        size += std::abs(a * b);
      }
      check_difference(data.w[m * N + n], sum, size, K, got[m * N + n],
                       fmt::format("{}, W({}, {})", text_of(each), m, n));
    }
  }
}

void check_bias(const Case& each, const Data& data, const std::vector<float>& got) {
  const auto& [M, N, K] = each.sizes;
  for (std::uint32_t n = 0; n < N; ++n) {
    double sum = 0.0, size = 0.0;
    for (std::uint32_t k = 0; k < K; ++k) {
      sum += data.b[k * N + n];
      size += std::abs(data.b[k * N + n]);
    }
    check_difference(data.bias[n], sum, size, K, got[n],
                     fmt::format("{}, bias {}", text_of(each), n));
  }
}

TEST_F(OwnSmallUpdate, AgreesWithPlainLoops) {
  for (const Case& each : cases()) {
    const Data data = data_of(each);
    const std::vector<Bytes> out = updated(each, data);
    if (HasFailure()) return;
    check_product(each, data, values_of(out[0]));
    std::size_t next = 1;
    if (each.bias) check_bias(each, data, values_of(out[next++]));
    for (std::size_t t = 0; t < data.others.size(); ++t) {
      std::vector<float> expected = data.others[t];
      for (int i = 0; i < kLaunches; ++i) {
        for (std::size_t e = 0; e < expected.size(); ++e) expected[e] -= data.gradients[t][e];
      }
      EXPECT_EQ(expected, values_of(out[next++])) << text_of(each);
    }
    if (each.advance) {
      EXPECT_EQ(kFinished + kLaunches, values_of<std::int32_t>(out[next])[0]) << text_of(each);
    }
  }
}

// NaN and infinities of one row and one column stay there.
TEST_F(OwnSmallUpdate, SpoiledElementsStayInTheirRowAndColumn) {
  const Case each{{7, 3, 130}, true, false, true, false, {}};
  Data data = data_of(each);
  data.a[5] = NAN;           // row 5
  data.b[3 + 2] = INFINITY;  // column 2
  const std::vector<Bytes> out = updated(each, data);
  const std::vector<float> w = values_of(out[0]), bias = values_of(out[1]);
  for (std::uint32_t i = 0; i < w.size(); ++i) {
    EXPECT_EQ(std::isfinite(w[i]), i / 3 != 5 && i % 3 != 2) << i;
  }
  for (std::uint32_t n = 0; n < 3; ++n) EXPECT_EQ(std::isfinite(bias[n]), n != 2) << n;
}

TEST(SmallUpdateNumbers, SharesCoverK) {
  for (const std::uint32_t K : {1U, 128U, 129U, 4096U, 4097U, 60000U}) {
    SmallUpdate numbers{};
    numbers.M = 128;
    numbers.N = 10;
    numbers.K = K;
    numbers = dealt_out(numbers);
    EXPECT_LE(numbers.shares, SmallUpdate::kMostShares);
    EXPECT_GE(numbers.shares * numbers.share, K);
    EXPECT_LT((numbers.shares - 1) * numbers.share, K);
    EXPECT_EQ(0U, numbers.share % SmallUpdate::kDepth);
    EXPECT_EQ(K <= SmallUpdate::kDepth, numbers.partial_bytes() == 0);
  }
}

}  // namespace
}  // namespace stepscope::cuda
