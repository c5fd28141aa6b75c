// Images of small whole numbers, so that sums are exact in any order, in row-major and blocked
// memory.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <vector>

#include "backends/api/backend.h"
#include "tests/conformance/run_op.h"

namespace stepscope::onednn {

using Floats = std::vector<float>;

inline constexpr LayoutId kPlain = LayoutId::row_major;
constexpr LayoutId by(std::int64_t channels) { return static_cast<LayoutId>(channels); }

TensorType f32(const Shape& shape, LayoutId layout = kPlain);

// Elements -2 ... 2 in row-major order; another `which`, other elements.
Floats whole_numbers(const Shape& shape, int which);

// From row-major to an activation layout, padding of zeros included, and back.
Floats packed(const Floats& plain, const TensorType& type);
Floats unpacked(const Floats& stored, const TensorType& type);
// The padding of a stored value, which must be zeros.
Floats padding(const Floats& stored, const TensorType& type);

conformance::Bytes as_bytes(const Floats& elements);
Floats as_floats(const conformance::Bytes& bytes);

// Output types by the shape rule.
OpSite site_for(OpKind kind, const Attrs& attrs, std::vector<TensorType> in);

// Runs a site whose inputs are given as they are stored; fails the test for any damage.
std::vector<Floats> run(Backend& backend, const OpSite& site, const std::vector<Floats>& inputs);

}  // namespace stepscope::onednn
