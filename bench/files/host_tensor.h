// HostTensor: a named tensor in memory, as files of tensors hold them. Knows no device and no
// graph.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace stepscope {

enum class Element : std::uint8_t { u8, i32, i64, f16, bf16, f32, f64 };
std::string_view name(Element element);  // "f32"
std::size_t bytes_per_element(Element element);

struct HostTensor {
  std::string name;
  Element element = Element::f32;
  std::vector<std::int64_t> shape;  // outermost dimension first; empty: one element
  std::vector<std::byte> bytes;     // elements(shape) elements, little-endian, row-major
};

// A tensor that lies in a file and is not read, since its elements are of a type that stepscope has
// not: harmless while nobody asks for it.
struct UnreadTensor {
  std::string name;
  std::string why;  // the message for those who ask, with the file's name
};

// The product of the dimensions. Nothing when one is below 0 or the product exceeds 63 bits.
std::optional<std::int64_t> elements(std::span<const std::int64_t> shape);
// The same in bytes.
std::optional<std::uint64_t> bytes_of(std::span<const std::int64_t> shape, Element element);

// "{2, 3}", for messages; of more than eight dimensions the first eight.
std::string to_text(std::span<const std::int64_t> shape);

// Every element as f64. Throws bad_input when the bytes are not those of the shape, and for an i64
// that f64 cannot hold, with its index.
std::vector<double> to_doubles(const HostTensor& tensor);

// f32 elements from a list. Throws bad_input when the list has another count than the shape.
HostTensor make_tensor(std::string name, std::vector<std::int64_t> shape,
                       std::span<const float> elements);

}  // namespace stepscope
