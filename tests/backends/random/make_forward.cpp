// Forward ops: products, pointwise ops, views, rows by index, casts.
// SPDX-License-Identifier: Apache-2.0
#include "ops/ir/build.h"
#include "tests/backends/random/program_maker.h"

namespace stepscope::test {

void ProgramMaker::append_forward() {
  const std::int64_t N = dim();
  const std::int64_t D = dim();
  x_ = graph_.declare(Role::input, f32({N, D}), "x");
  labels_ = graph_.declare(Role::input, {{N}, DType::i32}, "labels");
  pool_.push_back(x_);
  if (one_in(2)) pool_.push_back(graph_.declare(Role::input, f32({N, D}), "y"));
  add(build::matmul(graph_, x_, parameter({D, dim()})), 2);

  static constexpr std::array<Rule, 23> kRules = {
      &ProgramMaker::matmul, &ProgramMaker::bias,     &ProgramMaker::binary,
      &ProgramMaker::binary, &ProgramMaker::scale,    &ProgramMaker::unary,
      &ProgramMaker::unary,  &ProgramMaker::reduce,   &ProgramMaker::broadcast,
      &ProgramMaker::view,   &ProgramMaker::constant, &ProgramMaker::layers,
      &ProgramMaker::layers, &ProgramMaker::images,   &ProgramMaker::images,
      &ProgramMaker::images, &ProgramMaker::images,   &ProgramMaker::convolve,
      &ProgramMaker::pool,   &ProgramMaker::gather,   &ProgramMaker::scatter,
      &ProgramMaker::cast,   &ProgramMaker::copy};
  const std::size_t wanted = 6 + below(real_ ? 12 : 9);
  for (std::size_t tried = 0; graph_.ops().size() < wanted && tried < 200; ++tried) {
    if (hub_uses_ == 0 && one_in(6)) {
      hub_ = pick();
      hub_uses_ = 3;
    }
    (this->*kRules[below(kRules.size())])();
  }
  hub_uses_ = 0;
}

ValueId ProgramMaker::activated(ValueId x) {
  const std::uint64_t which = below(real_ ? 8 : 5);
  ValueId y = x;
  if (which >= 1 && which <= 4) y = build::relu(graph_, x);
  if (which == 5 || which == 6) y = build::tanh(graph_, x);
  if (which == 7) y = build::sigmoid(graph_, x);
  set_degree(y, which >= 5 ? 1 : degree(x));
  return y;
}

ValueId ProgramMaker::shifted(ValueId x) {
  if (one_in(5)) return x;
  const ValueId y = build::add_bias(graph_, x, parameter({shape(x)[1]}));
  set_degree(y, degree(x));
  return y;
}

// A few layers as an MLP has them: what fusion is for.
bool ProgramMaker::layers() {
  ValueId x = pick();
  if (rank(x) != 2) return false;
  bool any = false;
  for (std::int64_t count = between(1, 3); count > 0; --count) {
    const std::int64_t columns = dim();
    if (!product_fits(degree(x), 1) || shape(x)[0] * columns > kMostElements) break;
    const ValueId z = build::matmul(graph_, x, parameter({shape(x)[1], columns}));
    set_degree(z, degree(x) + 1);
    x = activated(shifted(z));
    any = true;
  }
  return any && add(x, degree(x));
}

// a {M, K} x b {K, N}, each transposed or not; b is a value of the pool or a new parameter.
bool ProgramMaker::matmul() {
  const ValueId a = pick();
  if (rank(a) != 2) return false;
  const bool ta = one_in(3);
  bool tb = one_in(3);
  const std::int64_t rows = shape(a)[ta ? 1 : 0];
  const std::int64_t inner = shape(a)[ta ? 0 : 1];
  const auto fits = [&](ValueId b) {
    return rank(b) == 2 && shape(b)[tb ? 1 : 0] == inner && product_fits(degree(a), degree(b)) &&
           rows * shape(b)[tb ? 0 : 1] <= kMostElements;
  };
  ValueId b = one_in(2) ? pick_where(fits) : ValueId{};
  if (!b.valid()) {
    const std::int64_t columns = dim();
    if (!product_fits(degree(a), 1)) return false;
    b = parameter(tb ? Shape{columns, inner} : Shape{inner, columns});
  }
  return add(build::matmul(graph_, a, b, {ta, tb}), degree(a) + degree(b));
}

bool ProgramMaker::bias() {
  const ValueId x = pick();
  if (rank(x) < 2) return false;
  const std::int64_t C = shape(x)[1];
  ValueId b = one_in(3) ? pick_where([&](ValueId id) { return shape(id) == Shape{C}; }) : ValueId{};
  if (!b.valid()) b = parameter({C});
  return add(build::add_bias(graph_, x, b), std::max(degree(x), degree(b)));
}

bool ProgramMaker::binary() {
  const ValueId a = pick();
  const ValueId b = one_in(4) ? parameter(shape(a))
                              : pick_where([&](ValueId id) { return shape(id) == shape(a); });
  switch (below(3)) {
    case 0:
      return add(build::add(graph_, a, b), std::max(degree(a), degree(b)));
    case 1:
      return add(build::sub(graph_, a, b), std::max(degree(a), degree(b)));
    default:
      return product_fits(degree(a), degree(b)) &&
             add(build::mul(graph_, a, b), degree(a) + degree(b));
  }
}

bool ProgramMaker::scale() {
  constexpr std::array kPowers = {0.5, -0.5, 1.0, -1.0, 2.0};
  const ValueId x = pick();
  const double factor =
      real_ && !one_in(4) ? draws_.uniform(-1.5, 1.5) : kPowers[below(kPowers.size())];
  return add(build::scale(graph_, x, factor), degree(x));
}

bool ProgramMaker::unary() {
  const ValueId x = pick();
  const ValueId y = activated(x);
  return y != x && add(y, degree(y));
}

bool ProgramMaker::reduce() {
  const ValueId x = pick();
  if (rank(x) == 0) return false;
  return add(build::reduce_sum(graph_, x, static_cast<std::int64_t>(below(rank(x)))), degree(x));
}

bool ProgramMaker::broadcast() {
  const ValueId x = pick();
  const std::int64_t size = dim();
  if (rank(x) >= 3 || shape(x).elements() * size > kMostElements) return false;
  const auto axis = static_cast<std::int64_t>(below(rank(x) + 1));
  return add(build::broadcast(graph_, x, axis, size), degree(x));
}

bool ProgramMaker::view() {
  const ValueId x = pick();
  const std::int64_t elements = shape(x).elements();
  switch (below(3)) {
    case 0:
      return add(graph_.reshape(x, {elements}), degree(x));
    case 1:
      return rank(x) == 2 && add(graph_.reshape(x, {shape(x)[1], shape(x)[0]}), degree(x));
    default:
      return rank(x) > 0 &&
             add(graph_.reshape(x, {shape(x)[0], elements / shape(x)[0]}), degree(x));
  }
}

bool ProgramMaker::constant() {
  const ValueId like = pick();
  // A number of f32, so that its elements are equal beyond doubt.
  const double value = real_ ? static_cast<float>(draws_.uniform(-1.0, 1.0)) : 0.5F;
  return add(build::fill(graph_, graph_.type(like), value), 1);
}

// Rows of a table, some of them several times.
bool ProgramMaker::gather() {
  const std::int64_t width = dim();
  const ValueId table = one_in(2) ? parameter({dim(), width}) : pick();
  if (rank(table) == 0) return false;
  const std::int64_t rows = shape(table)[0];
  const std::int64_t N = one_in(2) ? shape(x_)[0] : dim();
  if (elements(table) / rows * N > kMostElements) return false;
  const ValueId indices = numbers({N}, fmt::format("index{}", graph_.values().size()), rows);
  return add(graph_.apply1(OpKind::Gather, {table, indices}), degree(table));
}

bool ProgramMaker::scatter() {
  const ValueId x = pick();
  const std::int64_t rows = dim();
  if (rank(x) == 0 || elements(x) / shape(x)[0] * rows > kMostElements) return false;
  const Shape of = {shape(x)[0]};
  const ValueId indices = numbers(of, fmt::format("index{}", graph_.values().size()), rows);
  return add(graph_.apply1(OpKind::ScatterAdd, {x, indices}, ScatterAddAttrs{rows}), degree(x));
}

// There and back; not by way of f64, which fast backends refuse. Through whole numbers no gradient
// flows; u8 wants what is not negative.
bool ProgramMaker::cast() {
  constexpr std::array kTypes = {DType::i32, DType::u8};
  ValueId x = pick();
  const DType to = kTypes[below(kTypes.size())];
  const int digits = degree(x);
  if (to == DType::u8) x = build::relu(graph_, x);
  const ValueId there = graph_.apply1(OpKind::Cast, {x}, CastAttrs{to});
  if (one_in(3)) keepable_.push_back(there);
  return add(graph_.apply1(OpKind::Cast, {there}, CastAttrs{DType::f32}), digits);
}

bool ProgramMaker::copy() {
  const ValueId x = pick();
  return add(graph_.apply1(OpKind::Reorder, {x}, ReorderAttrs{}), degree(x));
}

}  // namespace stepscope::test
