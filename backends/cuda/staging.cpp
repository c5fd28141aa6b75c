// The ring of pinned slots.
// SPDX-License-Identifier: Apache-2.0
#include "backends/cuda/staging.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>

#include "backends/cuda/error.h"

namespace stepscope::cuda {
namespace {

void make_event(EventHandle& event) {
  check_cuda(cudaEventCreateWithFlags(event.fill(), cudaEventDisableTiming),
             "cudaEventCreateWithFlags");
}

// A copy that succeeds makes no text.
void check_copy(cudaError_t result, std::size_t bytes, std::string_view where) {
  if (result == cudaSuccess) [[likely]]
    return;
  check_cuda(result, fmt::format("cudaMemcpyAsync of {} bytes {}", bytes, where));
}

}  // namespace

Staging::Staging() : slots_(kSlots) {
  check_cuda(cudaStreamCreateWithFlags(copies_.fill(), cudaStreamNonBlocking),
             "cudaStreamCreateWithFlags for copies");
  make_event(read_);
  for (Slot& slot : slots_) make_event(slot.copied);
}

Staging::~Staging() {
  if (copies_) forget(cudaStreamSynchronize(copies_.value()));
}

void Staging::copy_in(cudaStream_t stream, std::byte* to, std::span<const std::byte> from) {
  while (!from.empty()) {
    const std::size_t bytes = std::min(from.size(), kPieceBytes);
    copy_piece_in(stream, to, from.first(bytes));
    to += bytes;
    from = from.subspan(bytes);
  }
}

void Staging::copy_piece_in(cudaStream_t stream, std::byte* to, std::span<const std::byte> from) {
  Slot& slot = slots_[next_];
  if (slot.in_use) {
    check_cuda(cudaEventSynchronize(slot.copied.value()), "cudaEventSynchronize of a staging slot");
    slot.in_use = false;
  }
  std::byte* const pinned = slot.memory.reserve(from.size());
  std::memcpy(pinned, from.data(), from.size());
  check_cuda(cudaEventRecord(read_.value(), stream), "cudaEventRecord before a copy to the device");
  check_cuda(cudaStreamWaitEvent(copies_.value(), read_.value(), 0),
             "cudaStreamWaitEvent before a copy to the device");
  check_copy(cudaMemcpyAsync(to, pinned, from.size(), cudaMemcpyHostToDevice, copies_.value()),
             from.size(), "to the device");
  next_ = (next_ + 1) % slots_.size();
  check_ordered(cudaEventRecord(slot.copied.value(), copies_.value()),
                "cudaEventRecord behind a copy to the device");
  slot.in_use = true;
  check_ordered(cudaStreamWaitEvent(stream, slot.copied.value(), 0),
                "cudaStreamWaitEvent behind a copy to the device");
}

void Staging::check_ordered(cudaError_t result, std::string_view what) {
  if (result != cudaSuccess) {
    forget(result);
    forget(cudaStreamSynchronize(copies_.value()));
  }
  check_cuda(result, what);
}

void Staging::copy_out(cudaStream_t stream, std::span<std::byte> to, const std::byte* from) {
  while (!to.empty()) {
    const std::size_t bytes = std::min(to.size(), kPieceBytes);
    std::byte* const pinned = out_.reserve(bytes);
    check_copy(cudaMemcpyAsync(pinned, from, bytes, cudaMemcpyDeviceToHost, stream), bytes,
               "from the device");
    const cudaError_t waited = cudaStreamSynchronize(stream);
    if (waited != cudaSuccess) {  // the copy may still write what the next one is read through
      forget(waited);
      forget(cudaStreamSynchronize(stream));
    }
    check_cuda(waited, "cudaStreamSynchronize behind a copy to the host");
    std::memcpy(to.data(), pinned, bytes);
    from += bytes;
    to = to.subspan(bytes);
  }
}

std::size_t Staging::bytes_reserved() const {
  std::size_t bytes = out_.bytes();
  for (const Slot& slot : slots_) bytes += slot.memory.bytes();
  return bytes;
}

}  // namespace stepscope::cuda
