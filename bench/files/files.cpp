// Whole-file writing and reading on POSIX.
// SPDX-License-Identifier: Apache-2.0
#include "bench/files/files.h"

#include <fcntl.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstring>
#include <fstream>

#include "ops/base/check.h"

namespace stepscope {
namespace {

// Removes the file unless it was renamed away.
class TemporaryFile {
 public:
  explicit TemporaryFile(std::string path)
      : path_(std::move(path)),
        descriptor_(::open(path_.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0644)) {}
  ~TemporaryFile() {
    if (descriptor_ < 0) return;
    ::close(descriptor_);
    if (!renamed_) ::unlink(path_.c_str());
  }
  TemporaryFile(const TemporaryFile&) = delete;
  TemporaryFile& operator=(const TemporaryFile&) = delete;

  bool is_open() const { return descriptor_ >= 0; }
  bool write(std::string_view content) {
    while (!content.empty()) {
      const ssize_t written = ::write(descriptor_, content.data(), content.size());
      if (written < 0 && errno == EINTR) continue;
      if (written < 0) return false;
      content.remove_prefix(static_cast<std::size_t>(written));
    }
    return ::fsync(descriptor_) == 0 || errno == EINVAL;  // EINVAL: what cannot be synced
  }
  bool rename_to(const std::string& path) {
    renamed_ = ::rename(path_.c_str(), path.c_str()) == 0;
    return renamed_;
  }

 private:
  std::string path_;
  int descriptor_;
  bool renamed_ = false;
};

// So that the new name outlives a power cut. Folders that may not be opened are left to the system.
bool sync_folder(const std::filesystem::path& folder) {
  const int descriptor = ::open(folder.empty() ? "." : folder.c_str(), O_RDONLY | O_CLOEXEC);
  if (descriptor < 0) return true;
  const bool synced = ::fsync(descriptor) == 0 || errno == EINVAL || errno == ENOTSUP;
  const int reason = errno;
  ::close(descriptor);
  errno = reason;
  return synced;
}

template <class Content>
Content read_whole(const std::filesystem::path& path) {
  std::ifstream file(path, std::ios::binary);
  check(static_cast<bool>(file), Fault::io, "{}: cannot be opened: {}", path.string(),
        std::strerror(errno));
  Content content;
  std::array<char, 1 << 16> block;
  while (file.read(block.data(), block.size()) || file.gcount() > 0) {
    content.insert(content.end(), block.begin(), block.begin() + file.gcount());
    check(content.size() <= kLargestFileBytes, Fault::bad_input,
          "{}: does not end within {} bytes, more is not read", path.string(), kLargestFileBytes);
  }
  check(!file.bad(), Fault::io, "{}: cannot be read: {}", path.string(), std::strerror(errno));
  return content;
}

}  // namespace

void write_file(const std::filesystem::path& path, std::string_view content) {
  std::error_code error;
  if (path.has_parent_path()) std::filesystem::create_directories(path.parent_path(), error);
  check(!error, Fault::io, "{}: cannot make its folder: {}", path.string(), error.message());
  TemporaryFile file(fmt::format("{}.{}.tmp", path.string(), ::getpid()));
  const bool written = file.is_open() && file.write(content) && file.rename_to(path.string()) &&
                       sync_folder(path.parent_path());
  check(written, Fault::io, "{}: cannot be written: {}", path.string(), std::strerror(errno));
}

std::string read_file(const std::filesystem::path& path) { return read_whole<std::string>(path); }

std::vector<std::uint8_t> read_bytes(const std::filesystem::path& path) {
  return read_whole<std::vector<std::uint8_t>>(path);
}

}  // namespace stepscope
