// Sizes of channel-blocked values.
// SPDX-License-Identifier: Apache-2.0
#include "backends/cpu/layout.h"

#include "ops/base/check.h"

namespace stepscope::cpu {

std::int64_t channel_block(LayoutId layout) {
  const auto id = static_cast<std::int64_t>(layout);
  check(id <= kMaxChannelBlock, Fault::unsupported,
        "cpu: layout {} is no layout of activations, those are 0 to {}", id, kMaxChannelBlock);
  return id == 0 ? 1 : id;
}

std::int64_t stored_elements(const TensorType& type) {
  const std::int64_t block = channel_block(type.layout);
  const std::int64_t elements = type.shape.elements();
  if (block == 1) return elements;
  const std::int64_t channels = type.shape[1];
  return elements / channels * ((channels + block - 1) / block * block);
}

std::size_t stored_bytes(const TensorType& type) {
  return static_cast<std::size_t>(stored_elements(type)) * bytes_per_element(type.dtype);
}

}  // namespace stepscope::cpu
