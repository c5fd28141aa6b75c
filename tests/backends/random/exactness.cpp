// Each term is a whole multiple of a unit, a power of two. If the magnitudes of all terms sum up to
// at most 2^24 units, then so does every partial sum, and f32 holds it.
// SPDX-License-Identifier: Apache-2.0
#include "tests/backends/random/exactness.h"

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <limits>

#include "tests/backends/random/evaluate.h"
#include "tests/backends/random/terms.h"

namespace stepscope::test {
namespace {

// The largest power of two that divides x; infinity for zero, which every unit divides.
double unit_of(double x) {
  if (x == 0.0) return std::numeric_limits<double>::infinity();
  constexpr int kFraction = 52;
  constexpr std::uint64_t kHidden = std::uint64_t{1} << kFraction;
  const auto bits = std::bit_cast<std::uint64_t>(x);
  const auto exponent = bits >> kFraction & 0x7FF;
  // Beyond f32: no unit that a sum could be exact in.
  if (exponent <= kFraction || exponent == 0x7FF) return 0.0;
  const int zeros = std::countr_zero((bits & (kHidden - 1)) | kHidden);
  // The power of two with that exponent, moved up by as many digits as are zero.
  const std::uint64_t power = exponent - kFraction + static_cast<std::uint64_t>(zeros);
  return std::bit_cast<double>(power << kFraction);
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

bool all_exact(const std::vector<Sum>& sums) { return std::ranges::all_of(sums, &Sum::exact); }

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

class Exactness {
 public:
  Exactness(const Oracle& oracle, const Op& op) : oracle_(oracle), op_(op) {}

  bool judge() const;

 private:
  bool judge_fused() const;
  std::span<const double> in(std::size_t k) const { return oracle_.elements(op_.inputs[k]); }
  const Shape& shape(std::size_t k) const { return oracle_.graph().type(op_.inputs[k]).shape; }
  const Shape& made() const { return oracle_.graph().type(op_.outputs[0]).shape; }
  std::size_t elements() const { return static_cast<std::size_t>(made().elements()); }

  std::vector<Sum> product_sums() const {
    std::vector<Sum> sums(elements());
    const auto a = in(0), b = in(1);
    const std::vector<double> unit_a = units_of(a), unit_b = units_of(b);
    each_product(op_, shape(0), shape(1), made(),
                 [&](std::size_t to, std::size_t i, std::size_t j) {
                   sums[to].add(a[i] * b[j], unit_a[i] * unit_b[j]);
                 });
    return sums;
  }

  bool element_sums(const Op& op, std::size_t k, const Shape& out,
                    std::span<const double> x) const {
    const double by = divisor(op);
    if (by != unit_of(by)) return false;
    const auto integers =
        op.inputs.size() > 1 ? oracle_.integers(op.inputs[1]) : std::span<const std::int32_t>();
    std::vector<Sum> sums(static_cast<std::size_t>(out.elements()));
    each_summand(op, shape(k), out, integers,
                 [&](std::size_t to, std::size_t from) { sums[to].add(x[from] / by); });
    return all_exact(sums);
  }

  // Of relu or nothing.
  bool exact_activation() const {
    const auto* const product = std::get_if<MatMulAttrs>(&op_.attrs);
    const Activation activation =
        product != nullptr ? product->activation : std::get<Conv2dAttrs>(op_.attrs).activation;
    return activation == Activation::none || activation == Activation::relu;
  }

  bool product_with_bias() const {
    std::vector<Sum> sums = product_sums();
    const auto inner = static_cast<std::size_t>(elements_from(made(), 2));
    for (std::size_t i = 0; i < sums.size(); ++i) sums[i].add(in(2)[i / inner % in(2).size()]);
    return exact_activation() && all_exact(sums);
  }

  bool product_with_sums() const {
    const bool matrix = shape(1).rank() == 2;
    const Op sums{matrix ? OpKind::ReduceSum : OpKind::BiasGrad,
                  matrix ? Attrs(ReduceAttrs{0}) : Attrs(),
                  {},
                  {},
                  {}};
    return all_exact(product_sums()) &&
           element_sums(sums, 1, oracle_.graph().type(op_.outputs[1]).shape, in(1));
  }

  bool gated_max_pool_grad() const {
    std::vector<double> gated(in(0).size());
    for (std::size_t i = 0; i < gated.size(); ++i) {
      gated[i] = evaluate(OpKind::ReluGrad, 0.0, in(0)[i], in(2)[i]);
    }
    return element_sums(op_, 0, made(), gated);
  }

  bool add_bias() const {
    const auto inner = static_cast<std::size_t>(elements_from(made(), 2));
    return exact_pointwise(elements(), [&](std::size_t i, Sum& sum) {
      sum.add(in(0)[i]);
      sum.add(in(1)[i / inner % in(1).size()]);
    });
  }

  bool pointwise() const;
  bool chain() const;
  bool sgd() const;
  bool momentum() const;
  bool cast() const;

  // W' = W - rate g
  bool descent(std::size_t w, double rate, std::span<const double> slope) const {
    return exact_pointwise(slope.size(), [&](std::size_t i, Sum& sum) {
      sum.add(in(w)[i]);
      sum.add(rate * slope[i], unit_of(rate) * unit_of(slope[i]));
    });
  }

  const Oracle& oracle_;
  const Op& op_;
};

// One step of one element: f(a, b), as evaluate.
bool exact_step(OpKind kind, double factor, double a, double b) {
  Sum sum;
  switch (kind) {
    case OpKind::Relu:
    case OpKind::ReluGrad:
      return true;
    case OpKind::Scale:
      return std::abs(factor) == unit_of(factor);  // a power of two
    case OpKind::Add:
    case OpKind::Sub:
      sum.add(a);
      sum.add(b);
      return sum.exact();
    case OpKind::Mul:
      sum.add(a * b, unit_of(a) * unit_of(b));
      return sum.exact();
    default:
      return false;
  }
}

bool Exactness::pointwise() const {
  for (std::size_t i = 0; i < elements(); ++i) {
    if (!exact_step(op_.kind, 0.0, in(0)[i], in(1)[i])) return false;
  }
  return true;
}

bool Exactness::chain() const {
  const auto& chain = std::get<ChainAttrs>(op_.attrs);
  for (std::size_t i = 0; i < elements(); ++i) {
    double current = in(0)[i];
    std::size_t next = 1;
    for (std::size_t s = 0; s < static_cast<std::size_t>(chain.count); ++s) {
      const ChainStep& step = chain.steps[s];
      double a = current, b = current;
      if (step.operands == ChainOperands::current_first) b = in(next++)[i];
      if (step.operands == ChainOperands::current_second) a = in(next++)[i];
      if (!exact_step(step.kind, step.factor, a, b)) return false;
      current = evaluate(step.kind, step.factor, a, b);
    }
  }
  return true;
}

bool Exactness::sgd() const {
  const auto& settings = std::get<SgdAttrs>(op_.attrs);
  const auto tensors = static_cast<std::size_t>(settings.tensors);
  const double rate = settings.scaled_gradient ? 1.0 : in(2 * tensors)[0];
  for (std::size_t t = 0; t < tensors; ++t) {
    if (!descent(t, rate, in(tensors + t))) return false;
  }
  return true;
}

bool Exactness::momentum() const {
  const auto& settings = std::get<MomentumAttrs>(op_.attrs);
  const auto tensors = static_cast<std::size_t>(settings.tensors);
  const double mu = settings.mu;
  for (std::size_t t = 0; t < tensors; ++t) {
    const auto g = in(tensors + t), v = in(2 * tensors + t);
    const bool velocity = exact_pointwise(g.size(), [&](std::size_t i, Sum& sum) {
      sum.add(mu * v[i], unit_of(mu) * unit_of(v[i]));
      sum.add(g[i]);
    });
    const auto made_v = oracle_.elements(op_.outputs[tensors + t]);
    if (!velocity || !descent(t, in(3 * tensors)[0], made_v)) return false;
  }
  return true;
}

// What does not fit is unspecified.
bool Exactness::cast() const {
  const DType to = std::get<CastAttrs>(op_.attrs).to;
  const std::vector<double> x = oracle_.as_doubles(op_.inputs[0]);
  return std::ranges::all_of(x, [&](double each) {
    if (to == DType::u8) return each > -1.0 && each < 256.0;
    if (to == DType::i32) return std::abs(each) < 0x1p31;
    return to == DType::f64 || static_cast<double>(static_cast<float>(each)) == each;
  });
}

// Updates by products follow from a softmax: they are never exact.
bool Exactness::judge_fused() const {
  switch (op_.kind) {
    case OpKind::MatMulReluGrad:
    case OpKind::Conv2dInputReluGrad:
      return all_exact(product_sums());
    case OpKind::Linear:
    case OpKind::Conv2dBias:
      return product_with_bias();
    case OpKind::MatMulBiasGrad:
    case OpKind::Conv2dWeightBiasGrad:
      return product_with_sums();
    case OpKind::MaxPoolReluGrad:
      return gated_max_pool_grad();
    case OpKind::PointwiseChain:
      return chain();
    default:
      return false;
  }
}

// Of what only moves elements, or chooses among them.
bool is_always_exact(OpKind kind) {
  constexpr std::array kKinds = {OpKind::Relu,         OpKind::ReluGrad, OpKind::Broadcast,
                                 OpKind::Argmax,       OpKind::MaxPool,  OpKind::Gather,
                                 OpKind::CorrectCount, OpKind::Reorder};
  return std::ranges::count(kKinds, kind) != 0;
}

bool Exactness::judge() const {
  switch (op_.kind) {
    case OpKind::MatMul:
    case OpKind::Conv2d:
    case OpKind::Conv2dInputGrad:
    case OpKind::Conv2dWeightGrad:
      return all_exact(product_sums());
    case OpKind::ReduceSum:
    case OpKind::BiasGrad:
    case OpKind::ScatterAdd:
    case OpKind::MaxPoolGrad:
    case OpKind::AvgPool:
    case OpKind::AvgPoolGrad:
      return element_sums(op_, 0, made(), in(0));
    case OpKind::AddBias:
      return add_bias();
    case OpKind::Add:
    case OpKind::Sub:
    case OpKind::Mul:
      return pointwise();
    case OpKind::Scale:
      return exact_step(op_.kind, std::get<ScaleAttrs>(op_.attrs).factor, 0.0, 0.0);
    case OpKind::Fill: {
      const double value = std::get<FillAttrs>(op_.attrs).value;
      return static_cast<double>(static_cast<float>(value)) == value;
    }
    case OpKind::Cast:
      return cast();
    case OpKind::SgdUpdate:
      return sgd();
    case OpKind::MomentumUpdate:
      return momentum();
    default:
      return is_always_exact(op_.kind) || judge_fused();
  }
}

}  // namespace

bool exact_in_f32(const Oracle& oracle, const Op& op) { return Exactness(oracle, op).judge(); }

}  // namespace stepscope::test
