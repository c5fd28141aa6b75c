// Files that appear whole or not at all.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <filesystem>
#include <string>
#include <string_view>

namespace stepscope {

// Writes to a temporary file beside `path`, syncs, renames. Makes missing folders. Throws io,
// naming the path and the system's reason, and leaves nothing behind.
void write_file(const std::filesystem::path& path, std::string_view content);

// Throws io, naming the path and the system's reason.
std::string read_file(const std::filesystem::path& path);

}  // namespace stepscope
