// Conversion, element by element.
// SPDX-License-Identifier: Apache-2.0
#include "tests/support/tensor_bytes.h"

#include <cstdint>
#include <cstring>

#include "ops/base/check.h"

namespace stepscope::test {
namespace {

template <class Visit>
void with_element(DType dtype, Visit&& visit) {
  switch (dtype) {
    case DType::f64:
      return visit(double{});
    case DType::f32:
      return visit(float{});
    case DType::i32:
      return visit(std::int32_t{});
    case DType::u8:
      return visit(std::uint8_t{});
    case DType::bf16:
    case DType::f16:
      break;
  }
  fail(Fault::bad_input, "tensor bytes: {} is not written by any test", name(dtype));
}

}  // namespace

std::vector<std::byte> to_bytes(std::span<const double> elements, DType dtype) {
  std::vector<std::byte> bytes(elements.size() * bytes_per_element(dtype));
  with_element(dtype, [&](auto element) {
    for (std::size_t i = 0; i < elements.size(); ++i) {
      element = static_cast<decltype(element)>(elements[i]);
      std::memcpy(bytes.data() + i * sizeof(element), &element, sizeof(element));
    }
  });
  return bytes;
}

std::vector<double> to_doubles(std::span<const std::byte> bytes, DType dtype) {
  std::vector<double> elements(bytes.size() / bytes_per_element(dtype));
  with_element(dtype, [&](auto element) {
    for (std::size_t i = 0; i < elements.size(); ++i) {
      std::memcpy(&element, bytes.data() + i * sizeof(element), sizeof(element));
      elements[i] = static_cast<double>(element);
    }
  });
  return elements;
}

}  // namespace stepscope::test
