// The own tanh and logistic function, over the whole range of floats: the last digits that the few
// drawn values of conformance cannot see.
// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstdint>
#include <vector>

#include "tests/backends/cpu/own_backend.h"

namespace stepscope::cpu {
namespace {

// Every 4099th float, of all signs, sizes and kinds. 4099 is prime: the low bits vary as well.
std::vector<float> floats_of_all_sizes() {
  std::vector<float> floats;
  for (std::uint64_t bits = 0; bits < (std::uint64_t{1} << 32); bits += 4099) {
    floats.push_back(std::bit_cast<float>(static_cast<std::uint32_t>(bits)));
  }
  return floats;
}

std::vector<float> map(Isa isa, OpKind kind, const std::vector<float>& x) {
  const OpSite site = site_of(kind, {}, {tensor({static_cast<std::int64_t>(x.size())})});
  return floats_of(run(site, {bytes_of(x)}, isa)[0]);
}

// Of `exact`, in units of its last place as a float; the smallest subnormal is the least unit.
double ulps(float computed, double exact) {
  int exponent = 0;
  std::frexp(exact, &exponent);
  return std::abs(computed - exact) / std::ldexp(1.0, std::max(exponent - 24, -149));
}

void expect_within(OpKind kind, double (*exact)(double), double limit) {
  const std::vector<float> x = floats_of_all_sizes();
  for (const Isa isa : runnable_isas()) {
    SCOPED_TRACE(name(isa));
    const std::vector<float> y = map(isa, kind, x);
    for (std::size_t i = 0; i < x.size(); ++i) {
      if (std::isnan(x[i])) {
        ASSERT_TRUE(std::isnan(y[i])) << "at a NaN";
      } else {
        ASSERT_LE(ulps(y[i], exact(x[i])), limit) << "at " << x[i];
      }
    }
  }
}

TEST(CpuMath, TanhToOneAndAHalfUnits) {
  expect_within(
      OpKind::Tanh, [](double x) { return std::tanh(x); }, 1.5);
}

TEST(CpuMath, SigmoidToTwoAndAHalfUnits) {
  expect_within(
      OpKind::Sigmoid, [](double x) { return 1.0 / (1.0 + std::exp(-x)); }, 2.5);
}

}  // namespace
}  // namespace stepscope::cpu
