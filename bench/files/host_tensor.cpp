// Element types, sizes with their overflow, and elements as f64.
// SPDX-License-Identifier: Apache-2.0
#include "bench/files/host_tensor.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstring>
#include <limits>

#include "bench/files/shown.h"
#include "ops/base/check.h"

namespace stepscope {
namespace {

static_assert(std::endian::native == std::endian::little, "files are read in place");

template <class T>
T load(const std::byte* from) {
  T value;
  std::memcpy(&value, from, sizeof(value));
  return value;
}

// IEEE 754 binary16: sign, 5 bits of exponent (bias 15), 10 of fraction.
double from_f16(std::uint16_t bits) {
  const int exponent = bits >> 10 & 0x1f;
  const int fraction = bits & 0x3ff;
  double value = 0.0;
  if (exponent == 0x1f) {
    value = fraction == 0 ? std::numeric_limits<double>::infinity()
                          : std::numeric_limits<double>::quiet_NaN();
  } else if (exponent == 0) {
    value = std::ldexp(fraction, -24);
  } else {
    value = std::ldexp(fraction + 0x400, exponent - 25);
  }
  return bits & 0x8000 ? -value : value;
}

// The upper half of an f32.
double from_bf16(std::uint16_t bits) {
  return std::bit_cast<float>(static_cast<std::uint32_t>(bits) << 16);
}

double element_at(const HostTensor& tensor, std::size_t index) {
  const std::byte* from = tensor.bytes.data() + index * bytes_per_element(tensor.element);
  switch (tensor.element) {
    case Element::u8:
      return load<std::uint8_t>(from);
    case Element::i32:
      return load<std::int32_t>(from);
    case Element::i64: {
      const auto value = load<std::int64_t>(from);
      constexpr std::int64_t kExact = std::int64_t{1} << 53;
      check(value >= -kExact && value <= kExact, Fault::bad_input,
            "tensor {}: element {} is {}, beyond the integers that f64 holds", shown(tensor.name),
            index, value);
      return static_cast<double>(value);
    }
    case Element::f16:
      return from_f16(load<std::uint16_t>(from));
    case Element::bf16:
      return from_bf16(load<std::uint16_t>(from));
    case Element::f32:
      return load<float>(from);
    case Element::f64:
      return load<double>(from);
  }
  return 0.0;
}

}  // namespace

std::string_view name(Element element) {
  switch (element) {
    case Element::u8:
      return "u8";
    case Element::i32:
      return "i32";
    case Element::i64:
      return "i64";
    case Element::f16:
      return "f16";
    case Element::bf16:
      return "bf16";
    case Element::f32:
      return "f32";
    case Element::f64:
      return "f64";
  }
  return "unknown element";
}

std::size_t bytes_per_element(Element element) {
  switch (element) {
    case Element::u8:
      return 1;
    case Element::f16:
    case Element::bf16:
      return 2;
    case Element::i32:
    case Element::f32:
      return 4;
    case Element::i64:
    case Element::f64:
      return 8;
  }
  return 0;
}

std::optional<std::int64_t> elements(std::span<const std::int64_t> shape) {
  bool empty = false;
  for (const std::int64_t dim : shape) {
    if (dim < 0) return std::nullopt;
    empty = empty || dim == 0;
  }
  if (empty) return 0;
  std::int64_t product = 1;
  for (const std::int64_t dim : shape) {
    if (product > std::numeric_limits<std::int64_t>::max() / dim) return std::nullopt;
    product *= dim;
  }
  return product;
}

std::optional<std::uint64_t> bytes_of(std::span<const std::int64_t> shape, Element element) {
  const std::optional<std::int64_t> count = elements(shape);
  const std::uint64_t size = bytes_per_element(element);
  if (!count ||
      static_cast<std::uint64_t>(*count) > std::numeric_limits<std::uint64_t>::max() / size) {
    return std::nullopt;
  }
  return static_cast<std::uint64_t>(*count) * size;
}

std::string to_text(std::span<const std::int64_t> shape) {
  constexpr std::size_t kShown = 8;
  return fmt::format("{{{}{}}}", fmt::join(shape.first(std::min(shape.size(), kShown)), ", "),
                     shape.size() > kShown ? ", ..." : "");
}

std::vector<double> to_doubles(const HostTensor& tensor) {
  const std::optional<std::uint64_t> bytes = bytes_of(tensor.shape, tensor.element);
  check(bytes == tensor.bytes.size(), Fault::bad_input,
        "tensor {}: {} bytes are not those of {} {}", shown(tensor.name), tensor.bytes.size(),
        name(tensor.element), to_text(tensor.shape));
  std::vector<double> values(tensor.bytes.size() / bytes_per_element(tensor.element));
  for (std::size_t i = 0; i < values.size(); ++i) values[i] = element_at(tensor, i);
  return values;
}

HostTensor make_tensor(std::string name, std::vector<std::int64_t> shape,
                       std::span<const float> list) {
  const std::optional<std::int64_t> count = elements(shape);
  check(count && static_cast<std::uint64_t>(*count) == list.size(), Fault::bad_input,
        "tensor {}: {} elements are not those of {}", shown(name), list.size(), to_text(shape));
  const auto bytes = std::as_bytes(list);
  return {.name = std::move(name),
          .element = Element::f32,
          .shape = std::move(shape),
          .bytes = {bytes.begin(), bytes.end()}};
}

}  // namespace stepscope
