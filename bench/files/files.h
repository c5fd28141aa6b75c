// Files that appear whole or not at all.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

namespace stepscope {

// Writes to a temporary file beside `path`, syncs, renames, syncs the folder, so that a name that
// is there after a power cut has its content. Makes missing folders. A symbolic link stays one: the
// file that it names is written. What is there and no regular file, a pipe or a device, is opened
// and written as it is. Removes the temporaries of processes that died while they wrote. Throws io,
// naming the path and the system's reason, and leaves nothing behind.
void write_file(const std::filesystem::path& path, std::string_view content);

// Throws io, naming the path and the reason, where write_file would fail as things stand: asked
// before long work. Writes nothing, opens nothing.
void check_can_be_written(const std::filesystem::path& path);

// Throws io, naming the path and the system's reason.
std::string read_file(const std::filesystem::path& path);
// The same as bytes. Throws bad_input for more than kLargestFileBytes: the name may be that of a
// device which never ends.
std::vector<std::uint8_t> read_bytes(const std::filesystem::path& path);
inline constexpr std::uint64_t kLargestFileBytes = std::uint64_t{16} << 30;

}  // namespace stepscope
