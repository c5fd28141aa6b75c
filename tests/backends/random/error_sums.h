// Sums as the error rules see them, for plain ops and for the fused ops they are a part of.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <vector>

#include "tests/backends/random/error_rules.h"

namespace stepscope::test::rules {

// One element that is a sum of products or of elements, in any order.
struct Sum {
  double value = 0.0;
  double passed_on = 0.0;  // what the errors of the terms can come to
  double most = 0.0;       // the sum of the largest magnitudes that the terms can have
  double roundings = 0.0;  // a product and a sum for each term, but for the first sum

  void add_product(const Input& a, std::size_t i, const Input& b, std::size_t j) {
    value += a.value[i] * b.value[j];
    passed_on += a.most(i) * b.most(j) - std::abs(a.value[i] * b.value[j]);
    most += a.most(i) * b.most(j);
    roundings += 1.0;
  }
  // The first term of a sum of elements alone is not rounded: begin with -1 roundings.
  void add(const Input& x, std::size_t i) {
    value += x.value[i];
    passed_on += x.error[i];
    most += x.most(i);
    roundings += 1.0;
  }
  double error() const {
    if (most == 0.0 || roundings <= 0.0) return passed_on;
    return passed_on + gamma(roundings) * most + kTiny;
  }
};

// Of the op's products of inputs a and a + 1, an element of `out` each.
std::vector<Sum> product_sums(const Call& call, std::size_t a, const Shape& out);
// Of elements of x, as op says; `integers` as in each_summand.
std::vector<Sum> element_sums(const Op& op, const Input& x, const Shape& out,
                              std::span<const std::int32_t> integers);
void set_errors(const std::vector<Sum>& sums, const Output& out);

}  // namespace stepscope::test::rules
