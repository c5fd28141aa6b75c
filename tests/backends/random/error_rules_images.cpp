// Rules of pools' winners, casts and copies.
// SPDX-License-Identifier: Apache-2.0
#include <algorithm>

#include "tests/backends/random/error_rules.h"
#include "tests/backends/random/terms.h"

namespace stepscope::test::rules {

// x -> y, winners. Ambiguous where another element of a window may come out larger than the winner:
// the gradient would go elsewhere.
void max_pool(const Call& call) {
  const Input& x = call.in[0];
  const auto plane = static_cast<std::size_t>(elements_from(x.type.shape, 2));
  const auto windows = static_cast<std::size_t>(elements_from(call.out[0].type.shape, 2));
  each_window_place(std::get<Pool2dAttrs>(call.op.attrs), x.type.shape, call.out[0].type.shape,
                    [&](std::size_t from, std::size_t to) {
                      const auto place = static_cast<std::size_t>(call.out[1].integers[to]);
                      const std::size_t best = to / windows * plane + place;
                      call.out[0].error[to] = x.error[best];
                      const double reach = x.error[from] + x.error[best];
                      if (from != best && reach > 0.0 && x.value[best] - x.value[from] <= reach) {
                        call.ambiguous = true;
                      }
                    });
}

// To whole numbers: ambiguous where the error reaches one, other than zero, from which on the
// result is another; and where it does not fit, which is unspecified. To floating numbers: what
// f32 does not hold is rounded.
void cast(const Call& call) {
  const Input& x = call.in[0];
  const DType to = std::get<CastAttrs>(call.op.attrs).to;
  for (std::size_t i = 0; i < x.value.size(); ++i) {
    const double value = x.value[i], error = x.error[i];
    if (is_floating(to)) {
      call.out[0].set(i, error, to == DType::f32 ? kUnit : 0.0);
      continue;
    }
    const double low = to == DType::u8 ? -1.0 : -0x1p31, high = to == DType::u8 ? 256.0 : 0x1p31;
    const bool fits = value - error > low && value + error < high;
    const bool turns = error > 0.0 && std::trunc(value - error) != std::trunc(value + error);
    if (!fits || turns) call.ambiguous = true;
  }
  if (!x.value.empty() || !is_floating(to)) return;
  for (std::size_t i = 0; i < call.out[0].value.size(); ++i) {
    const double value = call.out[0].value[i];
    const bool rounds = to == DType::f32 && std::abs(value) > 0x1p24;
    call.out[0].error[i] = rounds ? kUnit * std::abs(value) : 0.0;
  }
}

void reorder(const Call& call) { std::ranges::copy(call.in[0].error, call.out[0].error.begin()); }

}  // namespace stepscope::test::rules
