// Pointwise ops and their gradients. Special values as docs/vocabulary.md specifies them.
// SPDX-License-Identifier: Apache-2.0
#include <cmath>

#include "backends/reference/functions.h"
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

// One step of a chain; `a` alone where the op takes one operand.
double apply(const ChainStep& step, double a, double b) {
  switch (step.kind) {
    case OpKind::Add:
      return a + b;
    case OpKind::Sub:
      return a - b;
    case OpKind::Mul:
      return a * b;
    case OpKind::Scale:
      return a * step.factor;
    case OpKind::Relu:
      return relu(a);
    case OpKind::ReluGrad:
      return relu_grad(a, b);
    case OpKind::Tanh:
      return std::tanh(a);
    case OpKind::TanhGrad:
      return tanh_grad(a, b);
    case OpKind::Sigmoid:
      return sigmoid(a);
    case OpKind::SigmoidGrad:
      return sigmoid_grad(a, b);
    default:
      return std::nan("");  // no other op passes the shape rule
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

template <class T>
void Relu(const Call<T>& call) {
  map(call, relu);
}
STEPSCOPE_REFERENCE_KERNEL(Relu)

// dy, y -> dx, as the other gradients
template <class T>
void ReluGrad(const Call<T>& call) {
  map2(call, relu_grad);
}
STEPSCOPE_REFERENCE_KERNEL(ReluGrad)

template <class T>
void Tanh(const Call<T>& call) {
  map(call, [](double x) { return std::tanh(x); });
}
STEPSCOPE_REFERENCE_KERNEL(Tanh)

template <class T>
void TanhGrad(const Call<T>& call) {
  map2(call, tanh_grad);
}
STEPSCOPE_REFERENCE_KERNEL(TanhGrad)

template <class T>
void Sigmoid(const Call<T>& call) {
  map(call, sigmoid);
}
STEPSCOPE_REFERENCE_KERNEL(Sigmoid)

template <class T>
void SigmoidGrad(const Call<T>& call) {
  map2(call, sigmoid_grad);
}
STEPSCOPE_REFERENCE_KERNEL(SigmoidGrad)

// x, others... -> y, all of one shape. Nothing is rounded between the steps.
template <class T>
void PointwiseChain(const Call<T>& call) {
  ChainAttrs chain = call.template attrs<ChainAttrs>();
  for (ChainStep& step : chain.steps) step.factor = static_cast<T>(step.factor);  // as Scale
  for (std::int64_t i = 0; i < call.out_shape(0).elements(); ++i) {
    double current = call.in(0)[i];
    std::size_t next = 1;
    for (std::size_t k = 0; k < static_cast<std::size_t>(chain.count); ++k) {
      const ChainStep& step = chain.steps[k];
      const bool takes_input = step.operands == ChainOperands::current_first ||
                               step.operands == ChainOperands::current_second;
      const double other = takes_input ? double{call.in(next++)[i]} : current;
      current = step.operands == ChainOperands::current_second ? apply(step, other, current)
                                                               : apply(step, current, other);
    }
    call.out(0)[i] = static_cast<T>(current);
  }
}
STEPSCOPE_REFERENCE_KERNEL(PointwiseChain)

}  // namespace stepscope::reference
