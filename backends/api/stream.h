// Stream: where calls are submitted, and the only place that counts them.
//
// A launch function reports each call that it makes of a library or of an own kernel through
// made_call(), so counters and log say what was executed, whoever asked for it. Executors count
// nothing. The executed mode is derived from these counters (backends/execution/executor.h).
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "backends/api/kernel.h"
#include "ops/base/error.h"
#include "ops/ir/op_def.h"

namespace stepscope {

class Stream;

// Who computed: the library the backend is named after, or code of stepscope.
enum class CallBy : std::uint8_t { library, own };

// Since the stream was made. Differences of two snapshots tell what happened between them.
struct Counters {
  std::uint64_t steps = 0;            // begin_step()
  std::uint64_t lookups = 0;          // kernel look-ups by key, made for this stream
  std::uint64_t submitted = 0;        // launches handed over one by one
  std::uint64_t replays = 0;          // recordings replayed, one submission each
  std::uint64_t calls_submitted = 0;  // calls made by launches handed over one by one
  std::uint64_t calls_replayed = 0;   // calls made by replays
  std::uint64_t library_calls = 0;    // of all calls
  std::uint64_t own_calls = 0;
  std::uint64_t copies_in = 0, bytes_in = 0;    // phase input_copy, uploads
  std::uint64_t copies_replayed = 0;            // of copies_in: made by replays
  std::uint64_t copies_out = 0, bytes_out = 0;  // phase readback, downloads
  friend bool operator==(const Counters&, const Counters&) = default;
};
Counters operator-(const Counters& later, const Counters& earlier);

// What LogEntry::operands points to when the log is read.
enum class LogOperands : std::uint8_t {
  borrowed,  // the array of the launch: it identifies the binding, and may be gone
  copied,    // a copy that stays until its entry is overwritten, with the scratch behind it; for
             // checks: it costs time
};

// One call, as it was made. The kernel may be gone when the log is read if nobody keeps it
// (EagerCache::off); those of a KernelCache live as long as the cache.
struct LogEntry {
  const Kernel* kernel = nullptr;
  std::byte* const* operands = nullptr;  // inputs, then outputs
  std::uint32_t op = 0;                  // index in the graph of the executor that submitted it
  std::uint32_t step = 0;                // Counters::steps at the call
  CallBy by = CallBy::own;
};

enum class RecordAs : std::uint8_t {
  tape,     // CPU: {function, arguments} records, replayed in one loop
  capture,  // CUDA: stream capture
  nodes,    // CUDA: explicit nodes
};

// One node of a recording, for people (backends/execution/recording_dot.h). A replay runs them one
// behind the other, in this order.
struct RecordedNode {
  std::optional<std::uint32_t> op;  // nothing: a copy of inputs
  std::optional<CallBy> by;         // nothing: a copy, or not known before it is replayed
  std::string what;                 // how large, as far as it is known
};

// Launches, recorded once, replayed as one submission. Never moves: what it was bound to must live
// until its last replay has finished.
class Recording {
 public:
  virtual ~Recording() = default;
  virtual void replay(Stream& stream) = 0;
  virtual std::size_t launches() const = 0;         // recorded
  virtual std::size_t copies() const { return 0; }  // recorded: Stream::record_copy()
  virtual std::vector<RecordedNode> nodes() const { return {}; }

  // Bytes that it holds itself, beside what its launches are bound to. Nothing: not known.
  virtual std::optional<std::size_t> bytes() const { return std::nullopt; }

  // Parts of end_recording() that were measured apart. A tape has none of them.
  struct Times {
    std::optional<std::int64_t> instantiate_ns, upload_ns;
  };
  virtual Times times() const { return {}; }
};

// Of end_recording() when one launch cannot be recorded, and of a replay that knows which launch
// failed. The message names the op by index and kind;
// reason() is the rest of it, for whoever knows more of the op.
class RecordingError final : public Error {
 public:
  RecordingError(Fault fault, std::uint32_t op, std::string reason, const std::string& message)
      : Error(fault, message), op_(op), reason_(std::move(reason)) {}
  std::uint32_t op() const { return op_; }
  const std::string& reason() const { return reason_; }

 private:
  std::uint32_t op_;
  std::string reason_;
};

// Memory of the host with a fixed address, that recordings copy from (Stream::record_copy). Must
// outlive them. It belongs to the stream that made it: only that one records copies from it, and
// what it recorded is replayed there alone, since a source waits for the newest replay that reads
// it, and only in one stream are the earlier ones over by then.
class CopySource {
 public:
  virtual ~CopySource() = default;
  // To be written. Waits until every replay so far has read it.
  virtual std::span<std::byte> refill() = 0;
  virtual std::size_t bytes() const = 0;

 private:
  friend class Stream;
  const Stream* made_by_ = nullptr;  // compared, never followed
};

// Time between two places of a stream, by the clock of whoever runs it.
class Stopwatch {
 public:
  virtual ~Stopwatch() = default;
  virtual void start() = 0;  // behind all that was submitted; forgets what was measured before
  virtual void stop() = 0;   // likewise. Requires: start()
  virtual std::int64_t nanoseconds() = 0;  // waits for both. Requires: stop()
};

// Of host memory that is copied from or to.
enum class HostPages : std::uint8_t {
  pageable,  // as the system gives it
  pinned,    // of Backend::allocate_host(): a device reaches it itself
};

class Stream {
 public:
  virtual ~Stream() = default;
  Stream(const Stream&) = delete;
  Stream& operator=(const Stream&) = delete;

  // Waits until all that was submitted has finished.
  virtual void wait() = 0;

  // Between begin and end, submit() records and does not run. end_recording() or
  // abandon_recording() must follow, on every path. Throws unsupported for another RecordAs.
  virtual void begin_recording(RecordAs as) = 0;
  virtual std::unique_ptr<Recording> end_recording() = 0;
  // Drops what was recorded, and makes nothing of it. Does nothing where none was begun: for paths
  // that an error takes.
  virtual void abandon_recording() noexcept = 0;

  // Copies between host memory and memory of the backend, in order with the launches; counted as
  // input_copy and readback. copy_out waits for the bytes.
  void copy_in(std::byte* to, std::span<const std::byte> from);
  void copy_out(std::span<std::byte> to, const std::byte* from);

  // While recording, before its first launch: each replay copies the first `bytes` of `from`, in
  // front of its launches, and counts that as a copy in. Throws bad_input behind a launch, and for
  // a source of another stream or one of fewer bytes.
  void record_copy(std::byte* to, CopySource& from, std::size_t bytes);
  // Null: recordings hold no copies here.
  std::unique_ptr<CopySource> make_copy_source(std::size_t bytes);

  // Null: there is no clock but the host's.
  virtual std::unique_ptr<Stopwatch> make_stopwatch() { return nullptr; }

  // One copy as the machine makes it, without a detour through memory of the stream's own; for
  // those who measure transfers. In order with the launches, and counted. Host memory must stay as
  // it is until wait(). Where there is but one memory: as copy_in and copy_out.
  void transfer_in(std::byte* to, std::span<const std::byte> from, HostPages pages);
  void transfer_out(std::span<std::byte> to, const std::byte* from, HostPages pages);

  // Submits one launch on behalf of op `op` of the caller's graph.
  void submit(const Launch& launch, std::uint32_t op) {
    op_ = op;
    if (recording_) [[unlikely]] {
      record(launch, op);
      return;
    }
    ++counters_.submitted;
    launch.fn(launch, *this);
  }

  void begin_step() { ++counters_.steps; }
  void count_lookup() { ++counters_.lookups; }

  // Launch functions report here, once for each call that reaches a library or an own kernel.
  void made_call(const Launch& launch, CallBy by) {
    ++(replaying_ ? counters_.calls_replayed : counters_.calls_submitted);
    ++(by == CallBy::own ? counters_.own_calls : counters_.library_calls);
    if (!log_.empty()) {
      LogEntry& entry = log_[log_count_++ & log_mask_];
      entry = {launch.kernel, launch.operands, op_, static_cast<std::uint32_t>(counters_.steps),
               by};
      if (!operand_copies_.empty()) [[unlikely]] {
        copy_operands(launch, entry);
      }
    }
  }

  const Counters& counters() const { return counters_; }

  // The launch log is a ring: the newest `entries` (rounded up to a power of two) stay; 0 switches
  // it off. On by default, with borrowed operands. Allocates here and never later; empties the log.
  void keep_log(std::size_t entries, LogOperands operands = LogOperands::borrowed);
  void clear_log() { log_count_ = 0; }
  std::vector<LogEntry> log() const;  // oldest first
  static constexpr std::size_t kDefaultLogEntries = 4096;

 protected:
  Stream();

  virtual void record(const Launch& launch, std::uint32_t op) = 0;
  virtual void do_copy_in(std::byte* to, std::span<const std::byte> from) = 0;
  virtual void do_copy_out(std::span<std::byte> to, const std::byte* from) = 0;
  virtual void do_record_copy(std::byte* to, CopySource& from, std::size_t bytes);
  virtual std::unique_ptr<CopySource> do_make_copy_source(std::size_t) { return nullptr; }
  virtual void do_transfer_in(std::byte* to, std::span<const std::byte> from, HostPages) {
    do_copy_in(to, from);
  }
  virtual void do_transfer_out(std::span<std::byte> to, const std::byte* from, HostPages) {
    do_copy_out(to, from);
  }

  bool recording_ = false;

 private:
  friend class ReplayScope;
  using Operands = std::array<std::byte*, kMaxOperands + 1>;

  void copy_operands(const Launch& launch, LogEntry& entry);

  Counters counters_;
  std::uint32_t op_ = 0;
  bool replaying_ = false;
  std::vector<LogEntry> log_;
  std::vector<Operands> operand_copies_;  // one per entry, or none
  std::size_t log_mask_ = 0;
  std::size_t log_count_ = 0;
};

// While it lives, calls count as replayed; making one counts a replay. For Recording::replay.
class ReplayScope {
 public:
  explicit ReplayScope(Stream& stream) : stream_(stream) {
    ++stream.counters_.replays;
    stream.replaying_ = true;
  }
  ~ReplayScope() { stream_.replaying_ = false; }
  ReplayScope(const ReplayScope&) = delete;
  ReplayScope& operator=(const ReplayScope&) = delete;

  void at_op(std::uint32_t op) { stream_.op_ = op; }
  // A copy of inputs that the replay makes.
  void copied_in(std::size_t bytes) {
    ++stream_.counters_.copies_in;
    ++stream_.counters_.copies_replayed;
    stream_.counters_.bytes_in += bytes;
  }

 private:
  Stream& stream_;
};

}  // namespace stepscope
