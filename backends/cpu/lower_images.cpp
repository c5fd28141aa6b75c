// Pools and their gradients.
// SPDX-License-Identifier: Apache-2.0
#include <variant>

#include "backends/cpu/kernels/numbers.h"
#include "backends/cpu/layout.h"
#include "backends/cpu/lower.h"
#include "ops/base/check.h"

namespace stepscope::cpu {
namespace {

template <class Window>
Pool pool(const TensorType& x, const Shape& y, const Window& window) {
  return {.N = x.shape[0],
          .C = x.shape[1],
          .block = channel_block(x.layout),
          .H = x.shape[2],
          .W = x.shape[3],
          .OH = y[2],
          .OW = y[3],
          .kernel_h = window.kernel_h,
          .kernel_w = window.kernel_w,
          .stride_h = window.stride_h,
          .stride_w = window.stride_w,
          .pad_h = window.pad_h,
          .pad_w = window.pad_w};
}

Pool forward_pool(const OpSite& site) {
  check_f32(site);
  return pool(site.in[0], site.out[0].shape, std::get<Pool2dAttrs>(site.attrs));
}

Pool backward_pool(const OpSite& site) {
  check_f32(site);
  return pool(site.out[0], site.in[0].shape, std::get<Pool2dGradAttrs>(site.attrs));
}

// Windows of 2 x 2 that tile a row-major image, perhaps all but its last row and column.
bool halves(const Pool& pool) {
  return pool.block == 1 && pool.kernel_h == 2 && pool.kernel_w == 2 && pool.stride_h == 2 &&
         pool.stride_w == 2 && pool.pad_h == 0 && pool.pad_w == 0;
}

bool fits_byte(const Pool& pool) { return pool.kernel_h * pool.kernel_w <= 256; }

// The header, and a byte or an i32 for each element of y, padding included.
std::size_t saved_bytes(const TensorType& y, const Pool& pool) {
  const auto places = static_cast<std::size_t>(stored_elements(y));
  return kWinnersHeader + places * (fits_byte(pool) ? 1 : sizeof(std::int32_t));
}

Function choose(const Pool& pool, Function halving, Function bytes, Function wide) {
  if (halves(pool)) return halving;
  return fits_byte(pool) ? bytes : wide;
}

Body max_pool(const OpSite& site, const Table& table) {
  const Pool numbers = forward_pool(site);
  return {choose(numbers, table.MaxPoolHalving, table.MaxPool, table.MaxPoolWide),
          {.pool = numbers},
          {.saved = saved_bytes(site.out[0], numbers)}};
}

Body max_pool_grad(const OpSite& site, const Table& table) {
  const Pool numbers = backward_pool(site);
  return {choose(numbers, table.MaxPoolGradHalving, table.MaxPoolGrad, table.MaxPoolGradWide),
          {.pool = numbers},
          {}};
}

Body max_pool_relu_grad(const OpSite& site, const Table& table) {
  const Pool numbers = backward_pool(site);
  return {choose(numbers, table.MaxPoolReluGradHalving, table.MaxPoolReluGrad,
                 table.MaxPoolReluGradWide),
          {.pool = numbers},
          {}};
}

Body avg_pool(const OpSite& site, const Table& table) {
  const Pool numbers = forward_pool(site);
  return {halves(numbers) ? table.AvgPoolHalving : table.AvgPool, {.pool = numbers}, {}};
}

Body avg_pool_grad(const OpSite& site, const Table& table) {
  const Pool numbers = backward_pool(site);
  return {halves(numbers) ? table.AvgPoolGradHalving : table.AvgPoolGrad, {.pool = numbers}, {}};
}

}  // namespace

Lower lower_images(OpKind kind) {
  switch (kind) {
    case OpKind::MaxPool:
      return max_pool;
    case OpKind::MaxPoolGrad:
      return max_pool_grad;
    case OpKind::MaxPoolReluGrad:
      return max_pool_relu_grad;
    case OpKind::AvgPool:
      return avg_pool;
    case OpKind::AvgPoolGrad:
      return avg_pool_grad;
    default:
      return nullptr;
  }
}

}  // namespace stepscope::cpu
