// Rules of updates. Coefficients (mu, the betas) may be rounded to f32, corrections are computed
// well.
// SPDX-License-Identifier: Apache-2.0
#include <algorithm>

#include "tests/backends/random/error_rules.h"

namespace stepscope::test::rules {
namespace {

// W' = W - rate * direction: two roundings.
struct Step {
  const Input& rate;
  double direction, error;
};

void descend(const Input& w, const Output& made, const Step& by, std::size_t i) {
  const double step = by.rate.most(0) * (std::abs(by.direction) + by.error);
  const double exact = std::abs(by.rate.value[0] * by.direction);
  made.set(i, w.error[i] + (step - exact) + kUnit * step, kUnit);
}

// Of sqrt(x), x >= 0, where x is off by `error`.
double root_error(double x, double error) {
  const double up = std::sqrt(x + error) - std::sqrt(x);
  return std::max(up, std::sqrt(x) - std::sqrt(std::max(0.0, x - error)));
}

// As ops/defs/updates.cpp says. Ten roundings cover every way of writing the quotient; its slope is
// finite because of epsilon.
void adam_of_one(const Call& call, std::size_t tensors, std::size_t at) {
  const auto& settings = std::get<AdamAttrs>(call.op.attrs);
  const double b1 = settings.beta1, b2 = settings.beta2;
  const Input& rate = call.in[4 * tensors];
  const double t = call.in[4 * tensors + 1].integers[0] + 1.0;
  const double c1 = 1.0 - std::pow(b1, t), c2 = 1.0 - std::pow(b2, t);
  const Input &g = call.in[tensors + at], &m = call.in[2 * tensors + at],
              &v = call.in[3 * tensors + at];
  const Output &made_m = call.out[tensors + at], &made_v = call.out[2 * tensors + at];
  for (std::size_t i = 0; i < g.value.size(); ++i) {
    const double most_m = b1 * m.most(i) + (1 - b1) * g.most(i);
    made_m.set(i, b1 * m.error[i] + (1 - b1) * g.error[i] + gamma(4) * most_m, kUnit);
    const double square = g.value[i] * g.value[i];
    const double square_error = g.most(i) * g.most(i) - square;
    const double most_v = b2 * v.most(i) + (1 - b2) * (square + square_error);
    made_v.set(i, b2 * v.error[i] + (1 - b2) * square_error + gamma(5) * most_v, kUnit);

    const double mean = made_m.value[i] / c1;
    const double root = std::sqrt(made_v.value[i] / c2) + settings.epsilon;
    const double off = root_error(made_v.value[i] / c2, made_v.error[i] / c2);
    const double direction = mean / root;
    // The root is never below epsilon, whatever its error.
    const double lowest = std::max(root - off, settings.epsilon);
    const double passed_on = (made_m.error[i] / c1 + std::abs(direction) * off) / lowest;
    const double error = passed_on + gamma(10) * (std::abs(direction) + passed_on);
    descend(call.in[at], call.out[at], {rate, direction, error}, i);
  }
}

}  // namespace

// W..., g..., rate {}[, step], or without a rate
void sgd(const Call& call) {
  const auto& settings = std::get<SgdAttrs>(call.op.attrs);
  const auto tensors = static_cast<std::size_t>(settings.tensors);
  for (std::size_t t = 0; t < tensors; ++t) {
    const Input& w = call.in[t];
    const Input& g = call.in[tensors + t];
    for (std::size_t i = 0; i < g.value.size(); ++i) {
      if (settings.scaled_gradient) {
        call.out[t].set(i, w.error[i] + g.error[i], kUnit);
      } else {
        descend(w, call.out[t], {call.in[2 * tensors], g.value[i], g.error[i]}, i);
      }
    }
  }
}

// W..., g..., v..., rate {}[, step]; v' = mu v + g
void momentum(const Call& call) {
  const auto& settings = std::get<MomentumAttrs>(call.op.attrs);
  const auto tensors = static_cast<std::size_t>(settings.tensors);
  const double mu = settings.mu;
  for (std::size_t t = 0; t < tensors; ++t) {
    const Input& g = call.in[tensors + t];
    const Input& v = call.in[2 * tensors + t];
    const Output& made = call.out[tensors + t];
    for (std::size_t i = 0; i < g.value.size(); ++i) {
      const double most = mu * v.most(i) + g.most(i);
      made.set(i, mu * v.error[i] + g.error[i] + gamma(2) * most, kUnit);
      descend(call.in[t], call.out[t], {call.in[3 * tensors], made.value[i], made.error[i]}, i);
    }
  }
}

// W..., g..., m..., v..., rate {}, step
void adam(const Call& call) {
  const auto tensors = static_cast<std::size_t>(std::get<AdamAttrs>(call.op.attrs).tensors);
  for (std::size_t t = 0; t < tensors; ++t) adam_of_one(call, tensors, t);
}

// rate {}, step {}: the step count is exact, and so the factor, but for f64.
void scheduled_rate(const Call& call) {
  const Input& rate = call.in[0];
  const double factor = rate.value[0] == 0.0 ? 0.0 : call.out[0].value[0] / rate.value[0];
  call.out[0].set(0, std::abs(factor) * rate.error[0], kUnit);
}

}  // namespace stepscope::test::rules
