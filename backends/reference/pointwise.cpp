// Pointwise ops and their gradients. Special values as docs/vocabulary.md specifies them.
// SPDX-License-Identifier: Apache-2.0
#include <cmath>

#include "backends/reference/kernel.h"

namespace stepscope::reference {
namespace {

template <class T, class F>
void map(const Call<T>& call, F f) {
  const T* x = call.in(0);
  T* y = call.out(0);
  for (std::int64_t i = 0; i < call.out_shape(0).elements(); ++i) {
    y[i] = static_cast<T>(f(double{x[i]}));
  }
}

template <class T, class F>
void map2(const Call<T>& call, F f) {
  const T* a = call.in(0);
  const T* b = call.in(1);
  T* y = call.out(0);
  for (std::int64_t i = 0; i < call.out_shape(0).elements(); ++i) {
    y[i] = static_cast<T>(f(double{a[i]}, double{b[i]}));
  }
}

}  // namespace

template <class T>
void Add(const Call<T>& call) {
  map2(call, [](double a, double b) { return a + b; });
}
STEPSCOPE_REFERENCE_KERNEL(Add)

template <class T>
void Sub(const Call<T>& call) {
  map2(call, [](double a, double b) { return a - b; });
}
STEPSCOPE_REFERENCE_KERNEL(Sub)

template <class T>
void Mul(const Call<T>& call) {
  map2(call, [](double a, double b) { return a * b; });
}
STEPSCOPE_REFERENCE_KERNEL(Mul)

// The factor is rounded to the storage type first, as a kernel in that type would hold it.
template <class T>
void Scale(const Call<T>& call) {
  const double factor = static_cast<T>(call.template attrs<ScaleAttrs>().factor);
  map(call, [factor](double x) { return x * factor; });
}
STEPSCOPE_REFERENCE_KERNEL(Scale)

template <class T>
void Fill(const Call<T>& call) {
  const auto value = static_cast<T>(call.template attrs<FillAttrs>().value);
  T* y = call.out(0);
  for (std::int64_t i = 0; i < call.out_shape(0).elements(); ++i) y[i] = value;
}
STEPSCOPE_REFERENCE_KERNEL(Fill)

// NaN stays NaN; -0 and everything below become +0.
template <class T>
void Relu(const Call<T>& call) {
  map(call, [](double x) { return x > 0.0 || std::isnan(x) ? x : 0.0; });
}
STEPSCOPE_REFERENCE_KERNEL(Relu)

// dy, y -> dx: zero where y <= 0; a NaN in y lets dy through.
template <class T>
void ReluGrad(const Call<T>& call) {
  map2(call, [](double dy, double y) { return y <= 0.0 ? 0.0 : dy; });
}
STEPSCOPE_REFERENCE_KERNEL(ReluGrad)

template <class T>
void Tanh(const Call<T>& call) {
  map(call, [](double x) { return std::tanh(x); });
}
STEPSCOPE_REFERENCE_KERNEL(Tanh)

template <class T>
void TanhGrad(const Call<T>& call) {
  map2(call, [](double dy, double y) { return dy * (1.0 - y * y); });
}
STEPSCOPE_REFERENCE_KERNEL(TanhGrad)

template <class T>
void Sigmoid(const Call<T>& call) {
  map(call, [](double x) { return 1.0 / (1.0 + std::exp(-x)); });
}
STEPSCOPE_REFERENCE_KERNEL(Sigmoid)

template <class T>
void SigmoidGrad(const Call<T>& call) {
  map2(call, [](double dy, double y) { return dy * y * (1.0 - y); });
}
STEPSCOPE_REFERENCE_KERNEL(SigmoidGrad)

}  // namespace stepscope::reference
