// Rules of updates. Coefficients (mu, the betas) may be rounded to f32, corrections are computed
// well.
// SPDX-License-Identifier: Apache-2.0
#include <algorithm>

#include "tests/backends/random/error_rules.h"

namespace stepscope::test::rules {
namespace {

// W' = W - rate * direction: two roundings.
void descend(const Call& call, const Input& rate, double direction, double error, std::size_t i) {
  const Input& w = call.in[0];
  const double step = rate.most(0) * (std::abs(direction) + error);
  const double exact = std::abs(rate.value[0] * direction);
  call.out[0].set(i, w.error[i] + (step - exact) + kUnit * step, kUnit);
}

// Of sqrt(x), x >= 0, where x is off by `error`.
double root_error(double x, double error) {
  const double up = std::sqrt(x + error) - std::sqrt(x);
  return std::max(up, std::sqrt(x) - std::sqrt(std::max(0.0, x - error)));
}

}  // namespace

// W, g, rate {}[, step]
void sgd(const Call& call) {
  const Input& g = call.in[1];
  for (std::size_t i = 0; i < g.value.size(); ++i) {
    descend(call, call.in[2], g.value[i], g.error[i], i);
  }
}

// W, g, v, rate {}[, step]; v' = mu v + g
void momentum(const Call& call) {
  const double mu = std::get<MomentumAttrs>(call.op.attrs).mu;
  const Input& g = call.in[1];
  const Input& v = call.in[2];
  for (std::size_t i = 0; i < g.value.size(); ++i) {
    const double most = mu * v.most(i) + g.most(i);
    call.out[1].set(i, mu * v.error[i] + g.error[i] + gamma(2) * most, kUnit);
    descend(call, call.in[3], call.out[1].value[i], call.out[1].error[i], i);
  }
}

// W, g, m, v, rate {}, step; as ops/defs/updates.cpp says. Ten roundings cover every way of writing
// the quotient; its slope is finite because of epsilon.
void adam(const Call& call) {
  const auto& settings = std::get<AdamAttrs>(call.op.attrs);
  const double b1 = settings.beta1, b2 = settings.beta2;
  const double t = call.in[5].integers[0] + 1.0;
  const double c1 = 1.0 - std::pow(b1, t), c2 = 1.0 - std::pow(b2, t);
  const Input &g = call.in[1], &m = call.in[2], &v = call.in[3];
  for (std::size_t i = 0; i < g.value.size(); ++i) {
    const double most_m = b1 * m.most(i) + (1 - b1) * g.most(i);
    call.out[1].set(i, b1 * m.error[i] + (1 - b1) * g.error[i] + gamma(4) * most_m, kUnit);
    const double square = g.value[i] * g.value[i];
    const double square_error = g.most(i) * g.most(i) - square;
    const double most_v = b2 * v.most(i) + (1 - b2) * (square + square_error);
    call.out[2].set(i, b2 * v.error[i] + (1 - b2) * square_error + gamma(5) * most_v, kUnit);

    const double mean = call.out[1].value[i] / c1;
    const double root = std::sqrt(call.out[2].value[i] / c2) + settings.epsilon;
    const double off = root_error(call.out[2].value[i] / c2, call.out[2].error[i] / c2);
    const double direction = mean / root;
    // The root is never below epsilon, whatever its error.
    const double lowest = std::max(root - off, settings.epsilon);
    const double passed_on = (call.out[1].error[i] / c1 + std::abs(direction) * off) / lowest;
    const double error = passed_on + gamma(10) * (std::abs(direction) + passed_on);
    descend(call, call.in[4], direction, error, i);
  }
}

}  // namespace stepscope::test::rules
