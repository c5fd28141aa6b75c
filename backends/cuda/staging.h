// staging: pinned memory through which copies pass, and the stream that copies in.
//
// A ring of slots, each with an event: a slot is written again only when its last copy has
// finished. Copies in run on a stream of their own, behind the work that still reads what they
// overwrite, and the work that follows waits for them. Copies out wait for the bytes. More than a
// slot's bytes are copied in pieces, so that pinned memory stays bounded.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <span>
#include <string_view>
#include <vector>

#include "backends/cuda/handles.h"
#include "backends/cuda/memory.h"

namespace stepscope::cuda {

class Staging {
 public:
  static constexpr std::size_t kSlots = 2;  // of the ring: one is filled while one is copied
  // The largest piece: a batch is one, and beyond some MiB a copy's rate no longer grows.
  static constexpr std::size_t kPieceBytes = std::size_t{32} << 20;

  Staging();
  ~Staging();  // waits for the copies: pinned memory is freed at once
  // Returns when `from` may be changed; the bytes are there for all that is submitted to `stream`
  // from now on.
  void copy_in(cudaStream_t stream, std::byte* to, std::span<const std::byte> from);
  // Returns when `to` holds the bytes.
  void copy_out(cudaStream_t stream, std::span<std::byte> to, const std::byte* from);
  std::size_t bytes_reserved() const;  // pinned

 private:
  struct Slot {
    PinnedMemory memory;
    EventHandle copied;
    bool in_use = false;
  };

  void copy_piece_in(cudaStream_t stream, std::byte* to, std::span<const std::byte> from);
  // Of a call that orders other work behind a copy: when it failed, the copy is waited for.
  void check_ordered(cudaError_t result, std::string_view what);

  StreamHandle copies_;
  EventHandle read_;  // recorded behind the work that reads what is overwritten
  std::vector<Slot> slots_;
  std::size_t next_ = 0;
  PinnedMemory out_;
};

}  // namespace stepscope::cuda
