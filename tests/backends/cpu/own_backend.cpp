// The backend, and numbers for it.
// SPDX-License-Identifier: Apache-2.0
#include "tests/backends/cpu/own_backend.h"

#include <gtest/gtest.h>

#include <cstring>
#include <map>
#include <memory>
#include <random>

#include "backends/api/host.h"
#include "backends/cpu/layout.h"
#include "ops/ir/op_def.h"
#include "tests/conformance/cells.h"

namespace stepscope::cpu {
namespace {

class OwnBackend final : public HostBackend {
 public:
  explicit OwnBackend(Isa isa) : HostBackend({.name = "own"}) {
    for (std::size_t i = 0; i < kBuiltinOps; ++i) {
      const auto kind = static_cast<OpKind>(i);
      if (!has_body(kind)) continue;
      set_maker(kind, [isa](const OpSite& site) { return make_kernel(site, isa); });
    }
  }
};

template <class Draw>
Bytes numbers(std::int64_t elements, Draw draw) {
  std::vector<float> values(static_cast<std::size_t>(elements));
  for (float& value : values) value = draw();
  return bytes_of(values);
}

}  // namespace

std::vector<Isa> runnable_isas() {
  std::vector<Isa> isas;
  for (const Isa isa : kAllIsas) {
    if (can_run(isa)) isas.push_back(isa);
  }
  return isas;
}

Backend& own_backend(Isa isa) {
  static std::map<Isa, std::unique_ptr<Backend>> made;
  std::unique_ptr<Backend>& place = made[isa];
  if (place == nullptr) place = std::make_unique<OwnBackend>(isa);
  return *place;
}

Bytes bytes_of(const std::vector<float>& values) {
  Bytes bytes(values.size() * sizeof(float));
  std::memcpy(bytes.data(), values.data(), bytes.size());
  return bytes;
}

std::vector<float> floats_of(const Bytes& bytes) {
  std::vector<float> values(bytes.size() / sizeof(float));
  std::memcpy(values.data(), bytes.data(), bytes.size());
  return values;
}

std::vector<Bytes> run(const OpSite& site, const std::vector<Bytes>& inputs, Isa isa,
                       const conformance::RunOptions& options) {
  Backend& backend = own_backend(isa);
  const std::unique_ptr<Kernel> kernel = backend.lower(site);
  conformance::RunResult result = conformance::run_op(backend, *kernel, inputs, options);
  for (const std::string& damage : result.damage) ADD_FAILURE() << damage;
  EXPECT_EQ(result.counted.own_calls, 1U);
  EXPECT_EQ(result.counted.library_calls, 0U);
  return result.outputs;
}

TensorType tensor(const Shape& shape, std::int64_t block) {
  return {shape, DType::f32, static_cast<LayoutId>(block)};
}

OpSite site_of(OpKind kind, const Attrs& attrs, const std::vector<TensorType>& in) {
  return conformance::site_of(kind, attrs, in, DType::f32);
}

Bytes with_ties(std::int64_t elements, std::uint32_t seed) {
  std::mt19937 engine(seed);
  return numbers(elements, [&engine] {
    const int half = static_cast<int>(engine() % 10) - 5;
    return half == -5 ? -0.0F : static_cast<float>(half) * 0.5F;
  });
}

Bytes drawn(std::int64_t elements, std::uint32_t seed) {
  std::mt19937 engine(seed);
  return numbers(elements, [&engine] {
    return static_cast<float>(static_cast<std::int32_t>(engine())) * 0x1p-31F;
  });
}

Bytes in_layout(const Bytes& dense, const Shape& shape, std::int64_t block) {
  const std::vector<float> x = floats_of(dense);
  const TensorType type = tensor(shape, block);
  const std::int64_t b = channel_block(type.layout);
  const std::int64_t N = shape[0], C = shape[1], inner = shape.elements() / (N * C);
  const std::int64_t blocks = (C + b - 1) / b;
  std::vector<float> y(static_cast<std::size_t>(stored_elements(type)));
  for (std::int64_t n = 0; n < N; ++n) {
    for (std::int64_t c = 0; c < C; ++c) {
      for (std::int64_t i = 0; i < inner; ++i) {
        const std::int64_t to = ((n * blocks + c / b) * inner + i) * b + c % b;
        y[static_cast<std::size_t>(to)] = x[static_cast<std::size_t>((n * C + c) * inner + i)];
      }
    }
  }
  return bytes_of(y);
}

}  // namespace stepscope::cpu
