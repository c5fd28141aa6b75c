// Files that appear whole or not at all.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <filesystem>
#include <span>
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

struct FileContent {
  std::filesystem::path path;
  std::string content;
};

// The same for several, as one: everything is written and synced before the first file gets its
// name, so that a full disk leaves none of them, and no folder that was made for them. Pipes and
// devices have their content at once; between the renames alone may a power cut part the others.
// Requires: each path once. Throws as write_file does.
void write_files(std::span<const FileContent> files);

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
