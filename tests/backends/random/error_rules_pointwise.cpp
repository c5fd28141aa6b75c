// Rules of pointwise ops.
// SPDX-License-Identifier: Apache-2.0
#include <algorithm>

#include "tests/backends/random/error_rules.h"

namespace stepscope::test::rules {
namespace {

template <class Rule>
void each(const Call& call, Rule&& rule) {
  for (std::size_t i = 0; i < call.out[0].value.size(); ++i) rule(i);
}

// Error of a product a b: exact perturbation, no rounding.
double product_error(const Input& a, const Input& b, std::size_t i) {
  return a.most(i) * b.most(i) - std::abs(a.value[i]) * std::abs(b.value[i]);
}

// What rounding to f32 does to a constant.
double constant_error(double value) {
  return std::abs(static_cast<double>(static_cast<float>(value)) - value);
}

}  // namespace

void add(const Call& call) {
  const bool nothing = call.op.kind == OpKind::Sub && call.op.inputs[0] == call.op.inputs[1];
  each(call, [&](std::size_t i) {
    call.out[0].set(i, nothing ? 0.0 : call.in[0].error[i] + call.in[1].error[i], kUnit);
  });
}

void mul(const Call& call) {
  each(call,
       [&](std::size_t i) { call.out[0].set(i, product_error(call.in[0], call.in[1], i), kUnit); });
}

void scale(const Call& call) {
  const double factor = std::get<ScaleAttrs>(call.op.attrs).factor;
  each(call, [&](std::size_t i) {
    const Input& x = call.in[0];
    call.out[0].set(i, std::abs(factor) * x.error[i] + constant_error(factor) * x.most(i), kUnit);
  });
}

void fill(const Call& call) {
  const double error = constant_error(std::get<FillAttrs>(call.op.attrs).value);
  each(call, [&](std::size_t i) { call.out[0].error[i] = error; });
}

void relu(const Call& call) {
  each(call, [&](std::size_t i) {
    const double x = call.in[0].value[i];
    const double error = call.in[0].error[i];
    if (error > 0.0 && std::abs(x) <= error) call.ambiguous = true;
    call.out[0].error[i] = x > 0.0 ? error : 0.0;
  });
}

// dy, y -> dy where y > 0, else 0
void relu_grad(const Call& call) {
  each(call, [&](std::size_t i) {
    const double y = call.in[1].value[i];
    const double error = call.in[1].error[i];
    if (error > 0.0 && std::abs(y) <= error) call.ambiguous = true;
    call.out[0].error[i] = y > 0.0 ? call.in[0].error[i] : 0.0;
  });
}

// The slopes of tanh and sigmoid fall away from zero: within the error they are largest at the
// nearer end. Written without 1 - y, which is nothing where y is one but for its last digits.
void tanh(const Call& call) {
  each(call, [&](std::size_t i) {
    const Input& x = call.in[0];
    const double cosh = std::cosh(std::max(0.0, std::abs(x.value[i]) - x.error[i]));
    call.out[0].set(i, x.error[i] / (cosh * cosh), kFunction);
  });
}

void sigmoid(const Call& call) {
  each(call, [&](std::size_t i) {
    const Input& x = call.in[0];
    const double tail = std::exp(-std::max(0.0, std::abs(x.value[i]) - x.error[i]));
    call.out[0].set(i, x.error[i] * tail / ((1.0 + tail) * (1.0 + tail)), kFunction);
  });
}

// dy (1 - y y), however it is written: 1 - y y may cancel, so the rounding of y y counts in full.
void tanh_grad(const Call& call) {
  each(call, [&](std::size_t i) {
    const Input& dy = call.in[0];
    const Input& y = call.in[1];
    const double slope = std::abs(1.0 - y.value[i] * y.value[i]);
    const double slope_error = y.most(i) * y.most(i) - y.value[i] * y.value[i];
    const double rounding = 4 * kUnit * (y.most(i) * y.most(i) + slope);
    call.out[0].set(i, dy.error[i] * slope + dy.most(i) * (slope_error + rounding), 2 * kUnit);
  });
}

// dy y (1 - y)
void sigmoid_grad(const Call& call) {
  each(call, [&](std::size_t i) {
    const Input& dy = call.in[0];
    const Input& y = call.in[1];
    const double slope = std::abs(y.value[i] * (1.0 - y.value[i]));
    const double slope_error = y.error[i] * (std::abs(1.0 - 2.0 * y.value[i]) + y.error[i]);
    const double rounding = 4 * kUnit * y.most(i) * (1.0 + y.most(i));
    call.out[0].set(i, dy.error[i] * slope + dy.most(i) * (slope_error + rounding), 2 * kUnit);
  });
}

}  // namespace stepscope::test::rules
