// Packing by plain loops: nothing of what is tested is used to test it.
// SPDX-License-Identifier: Apache-2.0
#include "tests/backends/onednn/images.h"

#include <gtest/gtest.h>

#include <cstring>

#include "ops/ir/op_def.h"

namespace stepscope::onednn {
namespace {

// Calls visit(stored index, row-major index) for each place of {N, ceil(C / b), H, W, b}; the
// row-major index is -1 in the padding.
template <class Visit>
void each_place(const TensorType& type, Visit&& visit) {
  const std::int64_t N = type.shape[0], C = type.shape[1], inner = type.shape[2] * type.shape[3];
  const std::int64_t b = type.layout == kPlain ? 1 : static_cast<std::int64_t>(type.layout);
  std::int64_t stored = 0;
  for (std::int64_t n = 0; n < N; ++n) {
    for (std::int64_t block = 0; block * b < C; ++block) {
      for (std::int64_t i = 0; i < inner; ++i) {
        for (std::int64_t k = 0; k < b; ++k, ++stored) {
          const std::int64_t c = block * b + k;
          visit(static_cast<std::size_t>(stored), c < C ? (n * C + c) * inner + i : -1);
        }
      }
    }
  }
}

}  // namespace

TensorType f32(const Shape& shape, LayoutId layout) { return {shape, DType::f32, layout}; }

Floats whole_numbers(const Shape& shape, int which) {
  Floats elements(static_cast<std::size_t>(shape.elements()));
  for (std::size_t i = 0; i < elements.size(); ++i) {
    elements[i] = static_cast<float>((i * 7 + static_cast<std::size_t>(which) * 3 + i / 5) % 5) - 2;
  }
  return elements;
}

Floats packed(const Floats& plain, const TensorType& type) {
  Floats stored;
  each_place(type, [&](std::size_t, std::int64_t at) {
    stored.push_back(at < 0 ? 0.0F : plain[static_cast<std::size_t>(at)]);
  });
  return stored;
}

Floats unpacked(const Floats& stored, const TensorType& type) {
  Floats plain(static_cast<std::size_t>(type.shape.elements()));
  each_place(type, [&](std::size_t place, std::int64_t at) {
    if (at >= 0) plain[static_cast<std::size_t>(at)] = stored.at(place);
  });
  return plain;
}

Floats padding(const Floats& stored, const TensorType& type) {
  Floats found;
  each_place(type, [&](std::size_t place, std::int64_t at) {
    if (at < 0) found.push_back(stored.at(place));
  });
  return found;
}

conformance::Bytes as_bytes(const Floats& elements) {
  conformance::Bytes bytes(elements.size() * sizeof(float));
  std::memcpy(bytes.data(), elements.data(), bytes.size());
  return bytes;
}

Floats as_floats(const conformance::Bytes& bytes) {
  Floats elements(bytes.size() / sizeof(float));
  std::memcpy(elements.data(), bytes.data(), bytes.size());
  return elements;
}

OpSite site_for(OpKind kind, const Attrs& attrs, std::vector<TensorType> in) {
  TypeList out;
  op_def(kind).infer(in, attrs, out);
  return {kind, attrs, std::move(in), {out.begin(), out.end()}};
}

std::vector<Floats> run(Backend& backend, const OpSite& site, const std::vector<Floats>& inputs) {
  const std::unique_ptr<Kernel> kernel = backend.lower(site);
  std::vector<conformance::Bytes> bytes;
  for (const Floats& input : inputs) bytes.push_back(as_bytes(input));
  const conformance::RunResult result = conformance::run_op(backend, *kernel, bytes);
  for (const std::string& damage : result.damage) ADD_FAILURE() << damage;
  std::vector<Floats> outputs;
  for (const conformance::Bytes& output : result.outputs) outputs.push_back(as_floats(output));
  return outputs;
}

}  // namespace stepscope::onednn
