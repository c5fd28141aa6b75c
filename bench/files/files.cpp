// Whole-file writing and reading on POSIX.
// SPDX-License-Identifier: Apache-2.0
#include "bench/files/files.h"

#include <fcntl.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <charconv>
#include <csignal>
#include <cstring>
#include <fstream>
#include <memory>
#include <optional>

#include "ops/base/check.h"

namespace stepscope {
namespace {

namespace fs = std::filesystem;

fs::path folder_of(const fs::path& path) {
  return path.has_parent_path() ? path.parent_path() : fs::path(".");
}

// Where a chain of symbolic links ends, though nothing may lie there yet. Throws io for a circle.
fs::path behind_links(const fs::path& path) {
  constexpr int kMostLinks = 40;  // the kernel's own limit
  fs::path at = path;
  std::error_code error;
  for (int links = 0; fs::is_symlink(fs::symlink_status(at, error)); ++links) {
    const fs::path next = fs::read_symlink(at, error);
    check(!error && links < kMostLinks, Fault::io, "{}: cannot be written: {}", path.string(),
          error ? error.message() : std::strerror(ELOOP));
    at = at.parent_path() / next;  // an absolute one replaces it
  }
  return at;
}

// `path`.PID.tmp of processes that are gone: they were killed while writing.
void remove_stale_temporaries(const fs::path& path) {
  const std::string prefix = path.filename().string() + ".";
  constexpr std::string_view kSuffix = ".tmp";
  std::error_code ignored;
  fs::directory_iterator entry(folder_of(path), ignored);
  for (; entry != fs::directory_iterator(); entry.increment(ignored)) {
    const std::string file = entry->path().filename().string();
    if (file.size() <= prefix.size() + kSuffix.size()) continue;
    if (!file.starts_with(prefix) || !file.ends_with(kSuffix)) continue;
    const char* const end = file.data() + file.size() - kSuffix.size();
    pid_t process = 0;
    const auto [stopped, error] = std::from_chars(file.data() + prefix.size(), end, process);
    if (error != std::errc() || stopped != end || process <= 0) continue;
    const bool alive = ::kill(process, 0) == 0 || errno != ESRCH;
    if (!alive) fs::remove(entry->path(), ignored);
  }
}

bool write_all(int descriptor, std::string_view content) {
  while (!content.empty()) {
    const ssize_t written = ::write(descriptor, content.data(), content.size());
    if (written < 0 && errno == EINTR) continue;
    if (written < 0) return false;
    content.remove_prefix(static_cast<std::size_t>(written));
  }
  return ::fsync(descriptor) == 0 || errno == EINVAL;  // EINVAL: what cannot be synced
}

// Pipes, devices: what they are given is taken as it comes.
bool write_in_place(const fs::path& path, std::string_view content) {
  const int descriptor = ::open(path.c_str(), O_WRONLY | O_CLOEXEC);
  if (descriptor < 0) return false;
  const bool written = write_all(descriptor, content);
  const int reason = errno;
  const bool closed = ::close(descriptor) == 0;
  if (!written) errno = reason;
  return written && closed;
}

// Removes the file unless it was renamed away.
class TemporaryFile {
 public:
  // One that lies there already is of a process that died and had the number of this one.
  explicit TemporaryFile(std::string path) : path_(std::move(path)), descriptor_(make(path_)) {
    if (descriptor_ < 0 && errno == EEXIST && ::unlink(path_.c_str()) == 0) {
      descriptor_ = make(path_);
    }
  }
  ~TemporaryFile() {
    if (descriptor_ < 0) return;
    ::close(descriptor_);
    if (!renamed_) ::unlink(path_.c_str());
  }
  TemporaryFile(const TemporaryFile&) = delete;
  TemporaryFile& operator=(const TemporaryFile&) = delete;

  bool is_open() const { return descriptor_ >= 0; }
  bool write(std::string_view content) { return write_all(descriptor_, content); }
  bool rename_to(const std::string& path) {
    renamed_ = ::rename(path_.c_str(), path.c_str()) == 0;
    return renamed_;
  }

 private:
  static int make(const std::string& path) {
    return ::open(path.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0644);
  }

  std::string path_;
  int descriptor_;
  bool renamed_ = false;
};

// So that the new name outlives a power cut. Folders that may not be opened are left to the system.
bool sync_folder(const fs::path& folder) {
  const int descriptor = ::open(folder.c_str(), O_RDONLY | O_CLOEXEC);
  if (descriptor < 0) return true;
  const bool synced = ::fsync(descriptor) == 0 || errno == EINVAL || errno == ENOTSUP;
  const int reason = errno;
  ::close(descriptor);
  errno = reason;
  return synced;
}

// Makes a folder and those above it. Empty ones that it made go with the object, unless kept.
class MadeFolders {
 public:
  MadeFolders() = default;
  ~MadeFolders() {
    std::error_code ignored;
    for (const fs::path& folder : made_) fs::remove(folder, ignored);
  }
  MadeFolders(const MadeFolders&) = delete;
  MadeFolders& operator=(const MadeFolders&) = delete;

  void make(const fs::path& folder, std::error_code& error) {
    std::error_code ignored;
    for (fs::path at = folder; !at.empty() && !fs::exists(at, ignored); at = at.parent_path()) {
      made_.push_back(at);  // the innermost first
      if (!at.has_parent_path()) break;
    }
    fs::create_directories(folder, error);
  }
  void keep() { made_.clear(); }

 private:
  std::vector<fs::path> made_;
};

// A file that is written and has its name not yet. What is no regular file has its content at once.
class PendingFile {
 public:
  PendingFile(const fs::path& path, std::string_view content) : path_(path) {
    std::error_code error;
    const fs::file_status status = fs::status(path, error);
    if (fs::is_directory(status)) {
      errno = EISDIR;
      check_written(false);
    } else if (fs::exists(status) && !fs::is_regular_file(status)) {
      check_written(write_in_place(path, content));
    } else {
      target_ = behind_links(path);
      folders_.make(folder_of(target_), error);
      check(!error, Fault::io, "{}: cannot make its folder: {}", path.string(), error.message());
      remove_stale_temporaries(target_);
      file_.emplace(fmt::format("{}.{}.tmp", target_.string(), ::getpid()));
      check_written(file_->is_open() && file_->write(content));
    }
  }
  PendingFile(const PendingFile&) = delete;
  PendingFile& operator=(const PendingFile&) = delete;

  void name() {
    if (!file_) return;
    check_written(file_->rename_to(target_.string()) && sync_folder(folder_of(target_)));
    folders_.keep();
  }

 private:
  void check_written(bool written) const {
    check(written, Fault::io, "{}: cannot be written: {}", path_.string(), std::strerror(errno));
  }

  fs::path path_;
  fs::path target_;      // where its links end
  MadeFolders folders_;  // goes behind the file in it
  std::optional<TemporaryFile> file_;
};

// Goes from the last to the first: a folder behind the files that came into it later.
class PendingFiles {
 public:
  PendingFiles() = default;
  ~PendingFiles() {
    while (!files_.empty()) files_.pop_back();
  }
  PendingFiles(const PendingFiles&) = delete;
  PendingFiles& operator=(const PendingFiles&) = delete;

  void add(const fs::path& path, std::string_view content) {
    files_.push_back(std::make_unique<PendingFile>(path, content));
  }
  void name_all() {
    for (const std::unique_ptr<PendingFile>& file : files_) file->name();
  }

 private:
  std::vector<std::unique_ptr<PendingFile>> files_;
};

template <class Content>
Content read_whole(const fs::path& path) {
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

void write_file(const fs::path& path, std::string_view content) {
  PendingFile(path, content).name();
}

void write_files(std::span<const FileContent> files) {
  PendingFiles pending;
  for (const FileContent& file : files) pending.add(file.path, file.content);
  pending.name_all();
}

void check_can_be_written(const fs::path& path) {
  std::error_code error;
  const fs::file_status status = fs::status(path, error);
  check(!fs::is_directory(status), Fault::io, "{}: cannot be written: {}", path.string(),
        std::strerror(EISDIR));
  check(!fs::is_socket(status), Fault::io, "{}: cannot be written: it is a socket", path.string());
  const bool exists = fs::exists(status);
  constexpr fs::perms kWrite =
      fs::perms::owner_write | fs::perms::group_write | fs::perms::others_write;
  check(!exists || ((status.permissions() & kWrite) != fs::perms::none &&
                    ::access(path.c_str(), W_OK) == 0),
        Fault::io, "{}: cannot be written: it is read-only", path.string());
  if (exists && !fs::is_regular_file(status)) return;  // written in place
  // A folder that is missing will be made in the nearest one that is there.
  fs::path folder = folder_of(behind_links(path));
  while (!fs::exists(folder, error) && folder.has_parent_path() && folder != folder.parent_path()) {
    folder = folder.parent_path();
  }
  if (!fs::exists(folder, error)) folder = ".";  // a relative name of several parts: made here
  check(fs::is_directory(folder, error), Fault::io, "{}: cannot be written: {} is no folder",
        path.string(), folder.string());
  check(::access(folder.c_str(), W_OK | X_OK) == 0, Fault::io, "{}: cannot be written: {}: {}",
        path.string(), folder.string(), std::strerror(errno));
  // To root everything is writable, until it is tried.
  std::string probe = (folder / ".stepscope-XXXXXX").string();
  const int descriptor = ::mkstemp(probe.data());
  check(descriptor >= 0, Fault::io, "{}: cannot be written: {}: {}", path.string(), folder.string(),
        std::strerror(errno));
  ::close(descriptor);
  ::unlink(probe.c_str());
}

std::string read_file(const fs::path& path) { return read_whole<std::string>(path); }

std::vector<std::uint8_t> read_bytes(const fs::path& path) {
  return read_whole<std::vector<std::uint8_t>>(path);
}

}  // namespace stepscope
