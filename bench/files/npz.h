// NPZ: named arrays, a zip file of NPY files, as numpy.savez and savez_compressed write it.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <filesystem>
#include <span>
#include <string_view>
#include <vector>

#include "bench/files/host_tensor.h"

namespace stepscope {

// In the order of the file, each named as its member without `.npy`. Throw what visit_zip
// (bench/files/zip.h) and read_npy do, and bad_input for a member of another kind. The first throws
// io when the file cannot be read. With `unread`, arrays of UnreadableElements (bench/files/npy.h)
// are put there instead of being refused.
std::vector<HostTensor> read_npz(const std::filesystem::path& path);
std::vector<HostTensor> read_npz(std::span<const std::uint8_t> bytes, std::string_view who,
                                 std::vector<UnreadTensor>* unread = nullptr);

}  // namespace stepscope
