// safetensors: named tensors in one file, as https://github.com/huggingface/safetensors has it.
//
// The length of the header (u64, little-endian), the header (JSON: name -> dtype, shape and
// data_offsets, and `__metadata__`: strings), then the elements. No code, no padding between
// tensors.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <filesystem>
#include <map>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "bench/files/host_tensor.h"

namespace stepscope {

struct Safetensors {
  std::vector<HostTensor> tensors;              // in the order of the header
  std::map<std::string, std::string> metadata;  // empty where the file has none
};

inline constexpr std::uint64_t kLargestSafetensorsHeader = 100'000'000;  // bytes; of the format

// Both throw bad_input, naming the file (`who`), the tensor and the expectation, for what is not
// exactly such a file: a header that is cut short, too long, no JSON or of other fields; names
// given twice; an element type that stepscope has not, by name; offsets that lie outside the data,
// overlap, leave a hole or disagree with the shape. The first throws io when it cannot be read.
// With `unread`, tensors of an element type that stepscope has not are put there instead of being
// refused; their offsets are checked as all are, and their sizes where the format says them.
Safetensors read_safetensors(const std::filesystem::path& path);
Safetensors read_safetensors(std::span<const std::uint8_t> bytes, std::string_view who,
                             std::vector<UnreadTensor>* unread = nullptr);

// The bytes of a file: equal arguments give equal bytes. Elements begin at a multiple of 8, each
// tensor's at a multiple of its element. Throws bad_input for a name given twice, `__metadata__` as
// the name of a tensor, bytes that are not those of the shape, and text that is no UTF-8.
std::string to_safetensors(const Safetensors& content);

}  // namespace stepscope
