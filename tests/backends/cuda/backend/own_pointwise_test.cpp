// Own pointwise kernels, chains and casts against plain loops, at sizes around a vector and a
// block.
// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cstdint>

#include "tests/backends/cuda/backend/own_support.h"

namespace stepscope::cuda {
namespace {

constexpr std::size_t kSizes[] = {1, 3, 5, 127, 1031};

// Random values with special ones at the end, where the last vector is not whole.
std::vector<float> with_specials(std::size_t n, std::uint64_t stream,
                                 std::initializer_list<double> specials) {
  std::vector<float> values = draw(n, stream, -3.0, 3.0);
  std::size_t i = n;
  for (const double special : specials) {
    if (i > 0) values[--i] = static_cast<float>(special);
  }
  return values;
}

const auto kFirst = {0.0, -0.0,     kNan, kInf, -kInf,  1.0,  -1.0,
                     5.0, 0x1p-149, kNan, kInf, -200.0, 200.0};
const auto kSecond = {0.0, 0.0, 1.0, kInf, kInf, kNan, 0.0, -0.0, 1.0, kInf, 0.0, -1.0, 1.0};

class OwnPointwise : public OwnTest {
 protected:
  using Function = double (*)(double a, double b);
  using Error = double (*)(double a, double b, double y);  // bound in unit roundoffs

  // On memory of its own, and over each input that the op may be written over.
  void check_unary(cudaError_t (*run)(Submission&, Operands, const Elements&), Function f,
                   Error error) {
    check_each(
        1,
        [run](Submission& to, Operands operands, std::byte*, std::uint32_t n) {
          return run(to, operands, {n});
        },
        f, error);
  }
  void check_binary(cudaError_t (*run)(Submission&, Operands, const Elements&), Function f,
                    Error error) {
    check_each(
        2,
        [run](Submission& to, Operands operands, std::byte*, std::uint32_t n) {
          return run(to, operands, {n});
        },
        f, error);
  }
  template <class RunOf>
  void check_each(int inputs, RunOf run, Function f, Error error) {
    for (const std::size_t n : kSizes) {
      const std::vector<float> a = with_specials(n, 1, kFirst), b = with_specials(n, 2, kSecond);
      std::vector<Bytes> in = {bytes_of(a)};
      if (inputs == 2) in.push_back(bytes_of(b));
      for (int over = -1; over < inputs; ++over) {
        const std::vector<Bytes> out =
            outputs_of(in, {{n * sizeof(float), over}},
                       [&](Submission& to, Operands operands, std::byte* scratch) {
                         return run(to, operands, scratch, static_cast<std::uint32_t>(n));
                       });
        const std::vector<float> y = values_of(out[0]);
        for (std::size_t i = 0; i < n; ++i) {
          const double expected = f(a[i], b[i]);
          const double off = error(a[i], b[i], expected);
          expect_value(
              expected, y[i], off == 0.0 ? 0.0 : off * kUnitRoundoff + kSmallestNormal,
              std::to_string(i) + " of " + std::to_string(n) + ", over " + std::to_string(over));
        }
        if (HasFailure()) return;
      }
    }
  }
};

double exact(double, double, double) { return 0.0; }

TEST_F(OwnPointwise, Add) {
  check_binary(
      run_add, [](double a, double b) { return double{static_cast<float>(a + b)}; }, exact);
}
TEST_F(OwnPointwise, Sub) {
  check_binary(
      run_sub, [](double a, double b) { return double{static_cast<float>(a - b)}; }, exact);
}
TEST_F(OwnPointwise, Mul) {
  check_binary(
      run_mul, [](double a, double b) { return double{static_cast<float>(a * b)}; }, exact);
}
TEST_F(OwnPointwise, Relu) {
  check_unary(
      run_relu, [](double a, double) { return a > 0.0 || std::isnan(a) ? a : 0.0; }, exact);
}
TEST_F(OwnPointwise, ReluGrad) {
  check_binary(
      run_relu_grad, [](double dy, double y) { return y <= 0.0 ? 0.0 : dy; }, exact);
}
TEST_F(OwnPointwise, Tanh) {
  check_unary(
      run_tanh, [](double a, double) { return std::tanh(a); },
      [](double, double, double y) { return 10.0 * std::abs(y); });
}
TEST_F(OwnPointwise, TanhGrad) {
  check_binary(
      run_tanh_grad, [](double dy, double y) { return dy * (1.0 - y * y); },
      [](double dy, double y, double) { return 3.0 * std::abs(dy) * (1.0 + y * y); });
}
TEST_F(OwnPointwise, Sigmoid) {
  check_unary(
      run_sigmoid, [](double a, double) { return 1.0 / (1.0 + std::exp(-a)); },
      [](double, double, double y) { return 8.0 * y; });
}
TEST_F(OwnPointwise, SigmoidGrad) {
  check_binary(
      run_sigmoid_grad, [](double dy, double y) { return dy * y * (1.0 - y); },
      [](double dy, double y, double) { return 3.0 * std::abs(dy) * (std::abs(y) + y * y); });
}
TEST_F(OwnPointwise, Scale) {
  check_each(
      1,
      [](Submission& to, Operands operands, std::byte*, std::uint32_t n) {
        return run_scale(to, operands, {n, -0.1F});
      },
      [](double a, double) { return double{static_cast<float>(a) * -0.1F}; }, exact);
}
TEST_F(OwnPointwise, Fill) {
  for (const std::size_t n : kSizes) {
    for (const double value : {-0.0, 2.5, kNan}) {
      const auto out =
          outputs_of({}, {{n * sizeof(float)}}, [&](Submission& to, Operands operands, std::byte*) {
            return run_fill(to, operands,
                            {static_cast<std::uint32_t>(n), static_cast<float>(value)});
          });
      for (const float y : values_of(out[0])) expect_value(value, y, 0.0, "fill");
    }
  }
}

// --- chains --------------------------------------------------------------------------------------

float applied(Loop loop, float factor, float a, float b) {
  switch (loop) {
    case Loop::relu:
      return a > 0.0F || std::isnan(a) ? a : 0.0F;
    case Loop::tanh:
      return std::tanh(a);
    case Loop::sigmoid:
      return 1.0F / (1.0F + std::exp(-a));
    case Loop::scale:
      return a * factor;
    case Loop::add:
      return a + b;
    case Loop::sub:
      return a - b;
    case Loop::mul:
      return a * b;
    case Loop::relu_grad:
      return b <= 0.0F ? 0.0F : a;
    case Loop::tanh_grad:
      return a * (1.0F - b * b);
    case Loop::sigmoid_grad:
      return a * b * (1.0F - b);
  }
  return a;
}

float stepped(const Chain& chain, const std::vector<std::vector<float>>& in, std::size_t i) {
  float current = in[0][i];
  std::size_t next = 1;
  for (int s = 0; s < chain.count; ++s) {
    const LoopStep& step = chain.steps[s];
    const bool takes = step.operands == LoopOperands::current_first ||
                       step.operands == LoopOperands::current_second;
    const float other = takes ? in[next++][i] : current;
    current = step.operands == LoopOperands::current_second
                  ? applied(step.loop, step.factor, other, current)
                  : applied(step.loop, step.factor, current, other);
  }
  return current;
}

class OwnChain : public OwnTest {
 protected:
  // The roundings of at most 12 steps on values of size 3, whose slopes are at most as large.
  void check(std::initializer_list<LoopStep> steps) {
    for (const std::size_t n : kSizes) {
      Chain chain{.elements = static_cast<std::uint32_t>(n), .count = 0, .inputs = 1, .steps = {}};
      for (const LoopStep& step : steps) {
        chain.steps[chain.count++] = step;
        if (step.operands == LoopOperands::current_first ||
            step.operands == LoopOperands::current_second) {
          ++chain.inputs;
        }
      }
      std::vector<std::vector<float>> in;
      std::vector<Bytes> bytes;
      for (int k = 0; k < chain.inputs; ++k) {
        in.push_back(
            with_specials(n, static_cast<std::uint64_t>(k), k % 2 == 0 ? kFirst : kSecond));
        bytes.push_back(bytes_of(in.back()));
      }
      for (const int over : {-1, 0}) {
        const auto out = outputs_of(bytes, {{n * sizeof(float), over}},
                                    [&](Submission& to, Operands operands, std::byte*) {
                                      return run_chain(to, operands, chain);
                                    });
        const std::vector<float> y = values_of(out[0]);
        for (std::size_t i = 0; i < n; ++i) {
          const float expected = stepped(chain, in, i);
          expect_value(expected, y[i], 64.0 * kUnitRoundoff * std::max(1.0F, std::abs(expected)),
                       std::to_string(i) + " of " + std::to_string(n));
        }
        if (HasFailure()) return;
      }
    }
  }
};

constexpr auto kAlone = LoopOperands::current;
constexpr auto kOther = LoopOperands::current_first;
constexpr auto kSwapped = LoopOperands::current_second;
constexpr auto kBoth = LoopOperands::both;

TEST_F(OwnChain, OneStepOfEachKind) {
  using enum Loop;
  for (const Loop loop : {relu, tanh, sigmoid, scale}) check({{loop, kAlone, -0.3F}});
  for (const Loop loop : {add, sub, mul, relu_grad, tanh_grad, sigmoid_grad}) {
    for (const LoopOperands operands : {kOther, kSwapped, kBoth}) check({{loop, operands, 0.0F}});
  }
}

TEST_F(OwnChain, MostSteps) {
  using enum Loop;
  check({{add, kOther, 0},
         {sub, kSwapped, 0},
         {scale, kAlone, -0.7F},
         {tanh, kAlone, 0},
         {tanh_grad, kSwapped, 0},
         {sigmoid, kAlone, 0},
         {sigmoid_grad, kBoth, 0},
         {mul, kOther, 0},
         {sub, kOther, 0},
         {relu_grad, kOther, 0},
         {add, kBoth, 0},
         {relu, kAlone, 0}});
}

TEST_F(OwnChain, MostInputs) {
  using enum Loop;
  check({{add, kOther, 0},
         {add, kSwapped, 0},
         {sub, kOther, 0},
         {sub, kSwapped, 0},
         {add, kOther, 0},
         {tanh, kAlone, 0},
         {mul, kOther, 0},
         {relu_grad, kOther, 0},
         {add, kOther, 0},
         {sub, kSwapped, 0},
         {add, kSwapped, 0},
         {sub, kOther, 0}});
}

// --- casts ---------------------------------------------------------------------------------------

class OwnCast : public OwnTest {
 protected:
  template <class From, class To>
  void check(Number from, Number to, const std::vector<double>& values) {
    std::vector<From> x;
    for (const double value : values) x.push_back(static_cast<From>(value));
    const Casting numbers{static_cast<std::uint32_t>(x.size()), from, to};
    const auto out = outputs_of({bytes_of(x)}, {{x.size() * sizeof(To)}},
                                [&](Submission& to_where, Operands operands, std::byte*) {
                                  return run_cast(to_where, operands, numbers);
                                });
    const std::vector<To> y = values_of<To>(out[0]);
    for (std::size_t i = 0; i < x.size(); ++i) {
      expect_value(static_cast<double>(static_cast<To>(x[i])), static_cast<double>(y[i]), 0.0,
                   std::to_string(i));
    }
  }
  template <class From>
  void check_from(Number from, const std::vector<double>& values) {
    check<From, float>(from, Number::f32, values);
    check<From, double>(from, Number::f64, values);
    check<From, std::int32_t>(from, Number::i32, values);
    check<From, std::uint8_t>(from, Number::u8, values);
  }
};

TEST_F(OwnCast, EachPair) {
  std::vector<double> values = {0.0, 0.99, 1.0, 127.5, 128.0, 254.9, 255.0, 255.5};
  for (int i = 0; i < 300; ++i) values.push_back(i % 256 + 0.25);
  check_from<float>(Number::f32, values);
  check_from<double>(Number::f64, values);
  check_from<std::int32_t>(Number::i32, values);
  check_from<std::uint8_t>(Number::u8, values);
}

TEST_F(OwnCast, Ends) {
  check<float, std::int32_t>(Number::f32, Number::i32, {-1.9, -0.5, 2147483520.0, -2147483648.0});
  check<std::int32_t, float>(Number::i32, Number::f32, {16777217.0, 16777219.0, 2147483647.0});
  check<double, float>(Number::f64, Number::f32,
                       {1.0 + 0x1p-24, 1.0 + 3 * 0x1p-24, -0.0, kNan, kInf});
  check<float, double>(Number::f32, Number::f64, {kNan, -kInf, -0.0, 0x1p-149});
}

// What does not fit saturates, and a NaN is 0: nothing undefined.
TEST_F(OwnCast, WhatDoesNotFit) {
  const auto whole = [&](Number to, std::size_t bytes) {
    const std::vector<float> x = {1e20F, -1e20F, NAN, -3.5F};
    return outputs_of({bytes_of(x)}, {{4 * bytes}},
                      [&](Submission& to_where, Operands operands, std::byte*) {
                        return run_cast(to_where, operands, {4, Number::f32, to});
                      })[0];
  };
  EXPECT_EQ((std::vector<std::int32_t>{2147483647, -2147483647 - 1, 0, -3}),
            values_of<std::int32_t>(whole(Number::i32, 4)));
  EXPECT_EQ((std::vector<std::uint8_t>{255, 0, 0, 0}),
            values_of<std::uint8_t>(whole(Number::u8, 1)));
}

}  // namespace
}  // namespace stepscope::cuda
