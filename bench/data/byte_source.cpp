// Reading plain and gzip files; the only user of zlib.
// SPDX-License-Identifier: Apache-2.0
#include "bench/data/byte_source.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>
#include <zlib.h>

#include <algorithm>
#include <cerrno>
#include <string>
#include <system_error>
#include <vector>

#include "ops/base/check.h"

namespace stepscope {
namespace {

// Bytes read from the disk at once: at most, and, however small a file is, at least.
constexpr std::size_t kWindow = std::size_t{256} << 10;
constexpr std::size_t kSmallestWindow = 64;
constexpr std::uint8_t kGzipMagic[] = {0x1f, 0x8b};  // RFC 1952, section 2.3.1

std::string reason(int error) { return std::generic_category().message(error); }

// A regular file, open for reading.
class OpenFile {
 public:
  explicit OpenFile(std::filesystem::path path) : path_(std::move(path)) {
    // O_NONBLOCK: opening a pipe must not wait for a writer before it is refused below.
    descriptor_ = ::open(path_.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK);
    check(descriptor_ >= 0, Fault::io, "{}: cannot be opened: {}", path_.string(), reason(errno));
    try {
      measure();
    } catch (...) {
      ::close(descriptor_);
      throw;
    }
  }
  ~OpenFile() { ::close(descriptor_); }
  OpenFile(const OpenFile&) = delete;
  OpenFile& operator=(const OpenFile&) = delete;

  const std::filesystem::path& path() const { return path_; }
  std::uint64_t bytes() const { return bytes_; }

  // Less than asked for at the end of the file only.
  std::size_t read(std::span<std::uint8_t> to) {
    std::size_t done = 0;
    while (done < to.size()) {
      const ssize_t got = ::read(descriptor_, to.data() + done, to.size() - done);
      if (got < 0 && errno == EINTR) continue;
      check(got >= 0, Fault::io, "{}: cannot be read: {}", path_.string(), reason(errno));
      if (got == 0) break;
      done += static_cast<std::size_t>(got);
    }
    return done;
  }

 private:
  void measure() {
    struct stat status {};
    check(::fstat(descriptor_, &status) == 0, Fault::io, "{}: cannot be examined: {}",
          path_.string(), reason(errno));
    check(!S_ISDIR(status.st_mode), Fault::io, "{}: is a directory, expected a file",
          path_.string());
    check(S_ISREG(status.st_mode), Fault::io,
          "{}: is no regular file (a pipe or a device has no length to check a header against)",
          path_.string());
    bytes_ = static_cast<std::uint64_t>(status.st_size);
  }

  std::filesystem::path path_;
  int descriptor_ = -1;
  std::uint64_t bytes_ = 0;
};

}  // namespace

class ByteSource::Impl {
 public:
  explicit Impl(const std::filesystem::path& path)
      : file_(path), window_(std::clamp<std::size_t>(file_.bytes(), kSmallestWindow, kWindow)) {
    refill();
    if (!at_magic()) return;
    // 15: the largest window of deflate; + 16: gzip wrapping only (zlib.h, inflateInit2).
    check(inflateInit2(&stream_, 15 + 16) == Z_OK, Fault::device, "{}: zlib cannot start: {}",
          name(), stream_.msg != nullptr ? stream_.msg : "out of memory");
    form_ = Form::gzip;
  }
  ~Impl() {
    if (form_ == Form::gzip) inflateEnd(&stream_);
  }
  Impl(const Impl&) = delete;
  Impl& operator=(const Impl&) = delete;

  const OpenFile& file() const { return file_; }
  Form form() const { return form_; }

  std::size_t read(std::span<std::uint8_t> to) {
    return form_ == Form::gzip ? inflate_into(to) : copy_into(to);
  }

 private:
  std::string name() const { return file_.path().string(); }

  std::size_t held() const { return end_ - begin_; }
  std::uint64_t position() const { return taken_ - held(); }  // of the next byte in the file

  // Moves what is left to the front of the window and reads more behind it.
  void refill() {
    std::copy(window_.begin() + begin_, window_.begin() + end_, window_.begin());
    end_ = held();
    begin_ = 0;
    const std::size_t got = file_.read(std::span(window_).subspan(end_));
    end_ += got;
    taken_ += got;
  }

  bool at_magic() {
    if (held() < std::size(kGzipMagic)) refill();
    return held() >= std::size(kGzipMagic) &&
           std::equal(std::begin(kGzipMagic), std::end(kGzipMagic), window_.begin() + begin_);
  }

  std::size_t copy_into(std::span<std::uint8_t> to) {
    const std::size_t from_window = std::min(held(), to.size());
    std::copy_n(window_.begin() + begin_, from_window, to.begin());
    begin_ += from_window;
    const std::size_t direct = file_.read(to.subspan(from_window));
    taken_ += direct;
    return from_window + direct;
  }

  std::size_t inflate_into(std::span<std::uint8_t> to) {
    std::size_t done = 0;
    while (done < to.size()) {
      if (held() == 0) refill();
      if (between_members_) {
        if (held() == 0) break;
        start_next_member();
      }
      check(held() > 0, Fault::bad_input,
            "{}: gzip data end in member {} at byte {}, the end of the file; expected more: is the "
            "file truncated?",
            name(), member_, position());
      done += inflate_some(to.subspan(done));
    }
    return done;
  }

  void start_next_member() {
    check(at_magic(), Fault::bad_input,
          "{}: {} trailing bytes after the gzip data, from byte {} on; expected the file to end "
          "there",
          name(), file_.bytes() - position(), position());
    inflateReset(&stream_);
    between_members_ = false;
    ++member_;
  }

  // One call of inflate on what the window holds. Returns the bytes that came out.
  std::size_t inflate_some(std::span<std::uint8_t> to) {
    constexpr std::size_t kStep = std::size_t{1} << 20;  // zlib counts in 32 bits
    const std::size_t room = std::min(to.size(), kStep);
    stream_.next_in = window_.data() + begin_;
    stream_.avail_in = static_cast<uInt>(held());
    stream_.next_out = to.data();
    stream_.avail_out = static_cast<uInt>(room);
    const int status = inflate(&stream_, Z_NO_FLUSH);
    begin_ = end_ - stream_.avail_in;
    check(status != Z_MEM_ERROR, Fault::device, "{}: no memory to inflate it", name());
    // Z_BUF_ERROR: nothing more comes of these bytes; the next ones may help.
    check(status == Z_OK || status == Z_STREAM_END || status == Z_BUF_ERROR, Fault::bad_input,
          "{}: corrupt gzip data in member {} before byte {} (zlib: {}); fetch the file again",
          name(), member_, position(), stream_.msg != nullptr ? stream_.msg : zError(status));
    between_members_ = status == Z_STREAM_END;
    return room - stream_.avail_out;
  }

  OpenFile file_;
  std::vector<std::uint8_t> window_;
  std::size_t begin_ = 0, end_ = 0;  // of the bytes in the window that nobody has taken yet
  std::uint64_t taken_ = 0;          // bytes read from the disk
  Form form_ = Form::plain;
  z_stream stream_{};
  bool between_members_ = false;
  int member_ = 1;
};

ByteSource::ByteSource(const std::filesystem::path& path) : impl_(std::make_unique<Impl>(path)) {}
ByteSource::~ByteSource() = default;

const std::filesystem::path& ByteSource::path() const { return impl_->file().path(); }
ByteSource::Form ByteSource::form() const { return impl_->form(); }
std::uint64_t ByteSource::file_bytes() const { return impl_->file().bytes(); }
std::size_t ByteSource::read(std::span<std::uint8_t> to) { return impl_->read(to); }

std::uint64_t ByteSource::skip(std::uint64_t limit) {
  std::vector<std::uint8_t> sink(std::size_t{16} << 10);
  std::uint64_t skipped = 0;
  while (skipped < limit) {
    const std::uint64_t wanted = std::min<std::uint64_t>(sink.size(), limit - skipped);
    const std::size_t got = read(std::span(sink).first(static_cast<std::size_t>(wanted)));
    skipped += got;
    if (got < wanted) break;
  }
  return skipped;
}

}  // namespace stepscope
