// Updates, in place: output i lies where the input it overwrites lies. With several tensors each
// operand below stands for as many: W1, W2, ..., then g1, g2, ...
// SPDX-License-Identifier: Apache-2.0
#include <cmath>

#include "backends/reference/kernel.h"

namespace stepscope::reference {
namespace {

// The step count is the last input and the last output where an update counts the step.
template <class T>
void advance_step(const Call<T>& call, bool advance) {
  if (advance) ++*call.out_i32(call.site.out.size() - 1);
}

}  // namespace

// W, g, rate {}[, step] -> W - rate g; with scaled_gradient no rate, and W - g
template <class T>
void SgdUpdate(const Call<T>& call) {
  const auto& settings = call.template attrs<SgdAttrs>();
  const auto tensors = static_cast<std::size_t>(settings.tensors);
  const double rate = settings.scaled_gradient ? 1.0 : double{*call.in(2 * tensors)};
  for (std::size_t t = 0; t < tensors; ++t) {
    T* w = call.out(t);
    const T* g = call.in(tensors + t);
    for (std::int64_t i = 0; i < call.out_shape(t).elements(); ++i) {
      w[i] = static_cast<T>(double{w[i]} - rate * double{g[i]});
    }
  }
  advance_step(call, settings.advance_step);
}
STEPSCOPE_REFERENCE_KERNEL(SgdUpdate)

// W, g, v, rate {}[, step] -> W - rate v', v' = mu v + g
template <class T>
void MomentumUpdate(const Call<T>& call) {
  const auto& settings = call.template attrs<MomentumAttrs>();
  const auto tensors = static_cast<std::size_t>(settings.tensors);
  const double rate = *call.in(3 * tensors);
  for (std::size_t t = 0; t < tensors; ++t) {
    T* w = call.out(t);
    T* v = call.out(tensors + t);
    const T* g = call.in(tensors + t);
    for (std::int64_t i = 0; i < call.out_shape(t).elements(); ++i) {
      v[i] = static_cast<T>(settings.mu * double{v[i]} + double{g[i]});
      w[i] = static_cast<T>(double{w[i]} - rate * double{v[i]});
    }
  }
  advance_step(call, settings.advance_step);
}
STEPSCOPE_REFERENCE_KERNEL(MomentumUpdate)

// W, g, m, v, rate {}, step -> as ops/defs/updates.cpp says, with t = step + 1
template <class T>
void AdamUpdate(const Call<T>& call) {
  const auto& settings = call.template attrs<AdamAttrs>();
  const auto tensors = static_cast<std::size_t>(settings.tensors);
  const double rate = *call.in(4 * tensors);
  const double t = *call.in_i32(4 * tensors + 1) + 1.0;
  const double correction1 = 1.0 - std::pow(settings.beta1, t);
  const double correction2 = 1.0 - std::pow(settings.beta2, t);
  for (std::size_t k = 0; k < tensors; ++k) {
    T* w = call.out(k);
    T* m = call.out(tensors + k);
    T* v = call.out(2 * tensors + k);
    const T* g = call.in(tensors + k);
    for (std::int64_t i = 0; i < call.out_shape(k).elements(); ++i) {
      const double slope = g[i];
      m[i] = static_cast<T>(settings.beta1 * double{m[i]} + (1.0 - settings.beta1) * slope);
      v[i] = static_cast<T>(settings.beta2 * double{v[i]} + (1.0 - settings.beta2) * slope * slope);
      const double root = std::sqrt(double{v[i]} / correction2) + settings.epsilon;
      w[i] = static_cast<T>(double{w[i]} - rate * (double{m[i]} / correction1) / root);
    }
  }
  advance_step(call, settings.advance_step);
}
STEPSCOPE_REFERENCE_KERNEL(AdamUpdate)

}  // namespace stepscope::reference
