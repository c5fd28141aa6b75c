// NPY: one array as NumPy writes it, versions 1.0 to 3.0. Little-endian, C order; of element types
// '<f4', '<f8', '<i4', '<i8' and '|u1'. Python objects are never unpacked.
//
// Format: https://numpy.org/doc/stable/reference/generated/numpy.lib.format.html
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <filesystem>
#include <span>
#include <string>
#include <string_view>

#include "bench/files/host_tensor.h"
#include "ops/base/error.h"

namespace stepscope {

// The fault of a whole array whose elements stepscope does not read: their type or their order.
class UnreadableElements : public Error {
 public:
  explicit UnreadableElements(const std::string& message) : Error(Fault::bad_input, message) {}
};

// The tensor's name is empty. Throw bad_input (UnreadableElements for element type and order),
// naming the file (`who`), the place and the expectation, for another version, element type or
// order (by name), for a header that is no such dictionary, and for fewer or more bytes than the
// shape takes. The first throws io when the file cannot be read.
HostTensor read_npy(const std::filesystem::path& path);
HostTensor read_npy(std::span<const std::uint8_t> bytes, std::string_view who);

// The bytes of a file, version 1.0, elements at a multiple of 64 as NumPy has them. Throws
// unsupported for f16 and bf16, bad_input when the bytes are not those of the shape.
std::string to_npy(const HostTensor& tensor);

}  // namespace stepscope
