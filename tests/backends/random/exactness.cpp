// Each term is a whole multiple of a unit, a power of two. If the magnitudes of all terms sum up to
// at most 2^24 units, then so does every partial sum, and f32 holds it.
// SPDX-License-Identifier: Apache-2.0
#include "tests/backends/random/exactness.h"

#include <algorithm>
#include <cmath>
#include <limits>

namespace stepscope::test {
namespace {

// The largest power of two that divides x; infinity for zero, which every unit divides.
double unit_of(double x) {
  if (x == 0.0) return std::numeric_limits<double>::infinity();
  int exponent = 0;
  const double fraction = std::frexp(x, &exponent);
  auto digits = static_cast<std::int64_t>(std::ldexp(fraction, 53));
  int zeros = 0;
  while (digits % 2 == 0) {
    digits /= 2;
    ++zeros;
  }
  return std::ldexp(1.0, exponent - 53 + zeros);
}

class Sum {
 public:
  void add(double term, double unit) {
    magnitude_ += std::abs(term);
    unit_ = std::min(unit_, unit);
  }
  void add(double term) { add(term, unit_of(term)); }
  bool exact() const {
    return magnitude_ == 0.0 ||
           (magnitude_ <= std::ldexp(unit_, 24) && unit_ >= std::ldexp(1.0, -126));
  }

 private:
  double magnitude_ = 0.0;
  double unit_ = std::numeric_limits<double>::infinity();
};

std::vector<double> units_of(std::span<const double> x) {
  std::vector<double> units(x.size());
  std::transform(x.begin(), x.end(), units.begin(), unit_of);
  return units;
}

// a {M, K} x b {K, N}, stored as the attributes say
bool exact_matmul(const Oracle& oracle, const Op& op) {
  const auto [ta, tb] = std::get<MatMulAttrs>(op.attrs);
  const Shape& shape = oracle.graph().type(op.outputs[0]).shape;
  const Shape& left = oracle.graph().type(op.inputs[0]).shape;
  const std::int64_t M = shape[0], N = shape[1], K = left[ta ? 0 : 1];
  const auto a = oracle.elements(op.inputs[0]);
  const auto b = oracle.elements(op.inputs[1]);
  const std::vector<double> unit_a = units_of(a);
  const std::vector<double> unit_b = units_of(b);
  for (std::int64_t m = 0; m < M; ++m) {
    for (std::int64_t n = 0; n < N; ++n) {
      Sum sum;
      for (std::int64_t k = 0; k < K; ++k) {
        const auto i = static_cast<std::size_t>(ta ? k * M + m : m * K + k);
        const auto j = static_cast<std::size_t>(tb ? n * K + k : k * N + n);
        sum.add(a[i] * b[j], unit_a[i] * unit_b[j]);
      }
      if (!sum.exact()) return false;
    }
  }
  return true;
}

// x {outer, D, inner} -> {outer, inner}
bool exact_reduce(const Oracle& oracle, const Op& op) {
  const auto axis = static_cast<std::size_t>(std::get<ReduceAttrs>(op.attrs).axis);
  const Shape& shape = oracle.graph().type(op.inputs[0]).shape;
  std::int64_t inner = 1;
  for (std::size_t i = axis + 1; i < shape.rank(); ++i) inner *= shape[i];
  const auto x = oracle.elements(op.inputs[0]);
  for (std::int64_t out = 0; out < shape.elements() / shape[axis]; ++out) {
    Sum sum;
    for (std::int64_t d = 0; d < shape[axis]; ++d) {
      sum.add(x[static_cast<std::size_t>((out / inner * shape[axis] + d) * inner + out % inner)]);
    }
    if (!sum.exact()) return false;
  }
  return true;
}

// Every element of the output is one sum of the terms that `add_terms` adds for it.
template <class AddTerms>
bool exact_pointwise(std::size_t count, AddTerms&& add_terms) {
  for (std::size_t i = 0; i < count; ++i) {
    Sum sum;
    add_terms(i, sum);
    if (!sum.exact()) return false;
  }
  return true;
}

// W' = W - rate g
bool exact_descent(std::span<const double> w, double rate, std::span<const double> slope) {
  return exact_pointwise(w.size(), [&](std::size_t i, Sum& sum) {
    sum.add(w[i]);
    sum.add(rate * slope[i], unit_of(rate) * unit_of(slope[i]));
  });
}

bool exact_momentum(const Oracle& oracle, const Op& op) {
  const double mu = std::get<MomentumAttrs>(op.attrs).mu;
  const auto g = oracle.elements(op.inputs[1]);
  const auto v = oracle.elements(op.inputs[2]);
  return exact_pointwise(g.size(),
                         [&](std::size_t i, Sum& sum) {
                           sum.add(mu * v[i], unit_of(mu) * unit_of(v[i]));
                           sum.add(g[i]);
                         }) &&
         exact_descent(oracle.elements(op.inputs[0]), oracle.elements(op.inputs[3])[0],
                       oracle.elements(op.outputs[1]));
}

}  // namespace

bool exact_in_f32(const Oracle& oracle, const Op& op) {
  const auto in = [&](std::size_t k) { return oracle.elements(op.inputs[k]); };
  switch (op.kind) {
    case OpKind::MatMul:
      return exact_matmul(oracle, op);
    case OpKind::ReduceSum:
      return exact_reduce(oracle, op);
    case OpKind::Add:
    case OpKind::Sub:
      return exact_pointwise(in(0).size(), [&](std::size_t i, Sum& sum) {
        sum.add(in(0)[i]);
        sum.add(in(1)[i]);
      });
    case OpKind::AddBias: {
      const Shape& shape = oracle.graph().type(op.inputs[0]).shape;
      const auto C = static_cast<std::size_t>(shape[1]);
      const std::size_t inner = in(0).size() / (static_cast<std::size_t>(shape[0]) * C);
      return exact_pointwise(in(0).size(), [&](std::size_t i, Sum& sum) {
        sum.add(in(0)[i]);
        sum.add(in(1)[i / inner % C]);
      });
    }
    case OpKind::Mul:
      return exact_pointwise(in(0).size(), [&](std::size_t i, Sum& sum) {
        sum.add(in(0)[i] * in(1)[i], unit_of(in(0)[i]) * unit_of(in(1)[i]));
      });
    case OpKind::Scale: {
      const double factor = std::abs(std::get<ScaleAttrs>(op.attrs).factor);
      return factor == unit_of(factor);  // a power of two
    }
    case OpKind::Fill: {
      const double value = std::get<FillAttrs>(op.attrs).value;
      return static_cast<double>(static_cast<float>(value)) == value;
    }
    case OpKind::Relu:
    case OpKind::ReluGrad:
    case OpKind::Broadcast:
    case OpKind::Argmax:
    case OpKind::CorrectCount:
      return true;
    case OpKind::SgdUpdate:
      return exact_descent(in(0), in(2)[0], in(1));
    case OpKind::MomentumUpdate:
      return exact_momentum(oracle, op);
    default:
      return false;
  }
}

}  // namespace stepscope::test
