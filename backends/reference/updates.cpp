// Updates, in place: output i lies where the input it overwrites lies.
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

// W, g, rate {}[, step] -> W - rate g
template <class T>
void SgdUpdate(const Call<T>& call) {
  T* w = call.out(0);
  const T* g = call.in(1);
  const double rate = *call.in(2);
  for (std::int64_t i = 0; i < call.out_shape(0).elements(); ++i) {
    w[i] = static_cast<T>(double{w[i]} - rate * double{g[i]});
  }
  advance_step(call, call.template attrs<SgdAttrs>().advance_step);
}
STEPSCOPE_REFERENCE_KERNEL(SgdUpdate)

// W, g, v, rate {}[, step] -> W - rate v', v' = mu v + g
template <class T>
void MomentumUpdate(const Call<T>& call) {
  const MomentumAttrs& settings = call.template attrs<MomentumAttrs>();
  T* w = call.out(0);
  T* v = call.out(1);
  const T* g = call.in(1);
  const double rate = *call.in(3);
  for (std::int64_t i = 0; i < call.out_shape(0).elements(); ++i) {
    v[i] = static_cast<T>(settings.mu * double{v[i]} + double{g[i]});
    w[i] = static_cast<T>(double{w[i]} - rate * double{v[i]});
  }
  advance_step(call, settings.advance_step);
}
STEPSCOPE_REFERENCE_KERNEL(MomentumUpdate)

// W, g, m, v, rate {}, step -> as ops/defs/updates.cpp says, with t = step + 1
template <class T>
void AdamUpdate(const Call<T>& call) {
  const AdamAttrs& settings = call.template attrs<AdamAttrs>();
  T* w = call.out(0);
  T* m = call.out(1);
  T* v = call.out(2);
  const T* g = call.in(1);
  const double rate = *call.in(4);
  const double t = *call.in_i32(5) + 1.0;
  const double correction1 = 1.0 - std::pow(settings.beta1, t);
  const double correction2 = 1.0 - std::pow(settings.beta2, t);
  for (std::int64_t i = 0; i < call.out_shape(0).elements(); ++i) {
    const double slope = g[i];
    m[i] = static_cast<T>(settings.beta1 * double{m[i]} + (1.0 - settings.beta1) * slope);
    v[i] = static_cast<T>(settings.beta2 * double{v[i]} + (1.0 - settings.beta2) * slope * slope);
    const double root = std::sqrt(double{v[i]} / correction2) + settings.epsilon;
    w[i] = static_cast<T>(double{w[i]} - rate * (double{m[i]} / correction1) / root);
  }
  advance_step(call, settings.advance_step);
}
STEPSCOPE_REFERENCE_KERNEL(AdamUpdate)

}  // namespace stepscope::reference
