// Counting, copying and the launch log of a stream.
// SPDX-License-Identifier: Apache-2.0
#include "backends/api/stream.h"

#include <algorithm>
#include <bit>

#include "ops/base/check.h"

namespace stepscope {

Counters operator-(const Counters& later, const Counters& earlier) {
  return {.steps = later.steps - earlier.steps,
          .lookups = later.lookups - earlier.lookups,
          .submitted = later.submitted - earlier.submitted,
          .replays = later.replays - earlier.replays,
          .calls_submitted = later.calls_submitted - earlier.calls_submitted,
          .calls_replayed = later.calls_replayed - earlier.calls_replayed,
          .library_calls = later.library_calls - earlier.library_calls,
          .own_calls = later.own_calls - earlier.own_calls,
          .copies_in = later.copies_in - earlier.copies_in,
          .bytes_in = later.bytes_in - earlier.bytes_in,
          .copies_replayed = later.copies_replayed - earlier.copies_replayed,
          .copies_out = later.copies_out - earlier.copies_out,
          .bytes_out = later.bytes_out - earlier.bytes_out};
}

Stream::Stream() { keep_log(kDefaultLogEntries); }

void Stream::copy_in(std::byte* to, std::span<const std::byte> from) {
  ++counters_.copies_in;
  counters_.bytes_in += from.size();
  do_copy_in(to, from);
}

void Stream::copy_out(std::span<std::byte> to, const std::byte* from) {
  ++counters_.copies_out;
  counters_.bytes_out += to.size();
  do_copy_out(to, from);
}

void Stream::transfer_in(std::byte* to, std::span<const std::byte> from, HostPages pages) {
  ++counters_.copies_in;
  counters_.bytes_in += from.size();
  do_transfer_in(to, from, pages);
}

void Stream::transfer_out(std::span<std::byte> to, const std::byte* from, HostPages pages) {
  ++counters_.copies_out;
  counters_.bytes_out += to.size();
  do_transfer_out(to, from, pages);
}

void Stream::record_copy(std::byte* to, CopySource& from, std::size_t bytes) {
  check(recording_, Fault::bad_input, "record_copy: no recording was begun");
  check(from.made_by_ == this, Fault::bad_input,
        "record_copy: the source was made by another stream; take one of this stream");
  check(bytes <= from.bytes(), Fault::bad_input,
        "record_copy: {} bytes asked for, its source has {}", bytes, from.bytes());
  do_record_copy(to, from, bytes);
}

std::unique_ptr<CopySource> Stream::make_copy_source(std::size_t bytes) {
  std::unique_ptr<CopySource> source = do_make_copy_source(bytes);
  if (source != nullptr) source->made_by_ = this;
  return source;
}

void Stream::do_record_copy(std::byte*, CopySource&, std::size_t) {
  fail(Fault::unsupported, "record_copy: recordings of this stream hold no copies");
}

void Stream::copy_operands(const Launch& launch, LogEntry& entry) {
  const OpSite& site = launch.kernel->site();
  Operands& copy = operand_copies_[static_cast<std::size_t>(&entry - log_.data())];
  *std::copy_n(launch.operands, site.in.size() + site.out.size(), copy.begin()) = launch.scratch;
  entry.operands = copy.data();
}

void Stream::keep_log(std::size_t entries, LogOperands operands) {
  log_.assign(entries == 0 ? 0 : std::bit_ceil(entries), LogEntry{});
  operand_copies_.assign(operands == LogOperands::copied ? log_.size() : 0, Operands{});
  log_mask_ = log_.empty() ? 0 : log_.size() - 1;
  log_count_ = 0;
}

std::vector<LogEntry> Stream::log() const {
  const std::size_t kept = std::min(log_count_, log_.size());
  std::vector<LogEntry> entries;
  entries.reserve(kept);
  for (std::size_t i = log_count_ - kept; i < log_count_; ++i) {
    entries.push_back(log_[i & log_mask_]);
  }
  return entries;
}

}  // namespace stepscope
