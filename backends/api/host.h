// What backends on the host share: aligned memory, a synchronous stream, the tape, and a table of
// kernel makers. A host backend is a HostBackend with a table; it writes nothing of this again.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "backends/api/backend.h"

namespace stepscope {

inline constexpr std::size_t kHostAlignment = 64;  // a cache line, and the widest vector

class HostMemory final : public Memory {
 public:
  explicit HostMemory(std::size_t bytes);  // throws device when there is none
  ~HostMemory() override;
  std::byte* data() override { return data_; }
  std::size_t bytes() const override { return bytes_; }

 private:
  std::byte* data_;
  std::size_t bytes_;
};

// Launches recorded on the host: contiguous {function, arguments} records, replayed in one loop.
class Tape final : public Recording {
 public:
  void add(const Launch& launch, std::uint32_t op) { calls_.push_back({launch, op}); }
  void replay(Stream& stream) override;
  std::size_t launches() const override { return calls_.size(); }
  std::vector<RecordedNode> nodes() const override;
  std::optional<std::size_t> bytes() const override { return calls_.capacity() * sizeof(Call); }

 private:
  struct Call {
    Launch launch;
    std::uint32_t op;
  };
  std::vector<Call> calls_;
};

// Runs each launch at once, on the calling thread (a kernel may use more threads inside).
class HostStream final : public Stream {
 public:
  void wait() override {}
  void begin_recording(RecordAs as) override;
  std::unique_ptr<Recording> end_recording() override;
  void abandon_recording() noexcept override;

 private:
  void record(const Launch& launch, std::uint32_t op) override { tape_->add(launch, op); }
  void do_copy_in(std::byte* to, std::span<const std::byte> from) override;
  void do_copy_out(std::span<std::byte> to, const std::byte* from) override;

  std::unique_ptr<Tape> tape_;
};

class HostBackend : public Backend {
 public:
  // Makes the kernel of a site, or throws unsupported with the reason.
  using Maker = std::function<std::unique_ptr<Kernel>(const OpSite& site)>;

  const BackendInfo& info() const final { return info_; }
  std::size_t alignment() const final { return kHostAlignment; }
  std::unique_ptr<Memory> allocate(std::size_t bytes) final;
  std::unique_ptr<Stream> make_stream() override { return std::make_unique<HostStream>(); }
  RecordAs records_as() const final { return RecordAs::tape; }
  std::unique_ptr<Kernel> lower(const OpSite& site) override;
  void mark_dead(std::byte* data, std::size_t bytes) final;
  void mark_live(std::byte* data, std::size_t bytes) final;

  // For ops from outside the tree, and for the backend's own table. Replaces what was there.
  void set_maker(OpKind kind, Maker maker) { makers_[kind] = std::move(maker); }

 protected:
  explicit HostBackend(BackendInfo info) : info_(std::move(info)) {}

 private:
  BackendInfo info_;
  std::unordered_map<OpKind, Maker> makers_;
};

// Model name of the processor, as the system tells it.
std::string processor_name();

}  // namespace stepscope
