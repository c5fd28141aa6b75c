// Calls that copy and fill.
// SPDX-License-Identifier: Apache-2.0
#include <cuda_runtime_api.h>
#include <fmt/format.h>

#include "backends/cuda/sim/call.h"
#include "backends/cuda/sim/capture.h"
#include "backends/cuda/sim/lint.h"
#include "backends/cuda/sim/memory.h"
#include "backends/cuda/sim/requests.h"
#include "backends/cuda/sim/stream.h"

namespace {

using namespace stepscope::cudasim;

void stage(Copy& copy) {
  const auto* from = static_cast<const std::byte*>(copy.from);
  copy.staged = std::make_shared<const std::vector<std::byte>>(from, from + copy.bytes);
}

void lint_pageable(const Copy& copy, bool captured) {
  if (!has_pageable_end(copy)) return;
  const bool from = place_of(copy.from) == Place::pageable;
  const std::string text = fmt::format(
      "an asynchronous copy of {} bytes {} {}; {}", copy.bytes, from ? "from" : "to",
      describe(from ? copy.from : copy.to),
      captured ? "its address is baked into the graph: pin it" : "pin it with cudaMallocHost");
  note(captured ? Lint::pageable_captured : Lint::pageable_async, text);
}

// Rule 29: of pageable memory to the device only the DMA is asynchronous, so its bytes are taken
// now; towards pageable memory nothing is promised, and the copy runs when its turn comes.
cudaError_t copy_in_stream(CUstream_st& stream, Copy copy) {
  const bool captured = stream.capture != nullptr;
  lint_pageable(copy, captured);
  if (captured) return submit(stream, std::move(copy));  // rule 30: the address, not the bytes
  if (copy.kind == cudaMemcpyHostToDevice && place_of(copy.from) == Place::pageable) stage(copy);
  const bool waits = copy.kind == cudaMemcpyHostToHost;
  TaskRef task;
  if (const cudaError_t refused = submit(stream, std::move(copy), &task)) return refused;
  return waits ? wait_for(task) : cudaSuccess;
}

// CUDA's "API synchronization behavior": from one place of the device to another it does not wait;
// from pageable memory it waits until the bytes are staged, not until they have arrived.
cudaError_t copy_now(void* to, const void* from, std::size_t bytes, cudaMemcpyKind kind) {
  Copy copy;
  if (const cudaError_t refused = make_copy(to, from, bytes, kind, copy)) return refused;
  CUstream_st& legacy = *stream_of(nullptr);
  const bool to_device = place_of(to) == Place::device;
  const Place source = place_of(from);
  if (to_device && source == Place::pageable) {
    if (const cudaError_t fault = wait_for(mark_behind(legacy))) return fault;
    stage(copy);
  }
  TaskRef task;
  if (const cudaError_t refused = submit(legacy, std::move(copy), &task)) return refused;
  const bool returns = to_device && (source == Place::pageable || source == Place::device);
  return returns ? cudaSuccess : wait_for(task);
}

cudaError_t fill_in_stream(CUstream_st& stream, void* to, int value, std::size_t bytes,
                           TaskRef* task = nullptr) {
  Fill fill;
  const Fill wanted{to, static_cast<unsigned char>(value), 1, bytes, 1, bytes};
  if (const cudaError_t refused = make_fill(wanted, fill)) return refused;
  return submit(stream, fill, task);
}

// One batch: its copies, with the attributes that hold for each.
struct Batch {
  void* const* to;
  const void* const* from;
  const std::size_t* bytes;
  std::size_t count;
  const cudaMemcpyAttributes* attributes;
  const std::size_t* begins;  // of each set of attributes: the first copy that it holds for
  std::size_t sets;

  bool is_sound() const {
    if (to == nullptr || from == nullptr || bytes == nullptr || count == 0) return false;
    if (attributes == nullptr || begins == nullptr || sets == 0 || sets > count) return false;
    if (begins[0] != 0 || begins[sets - 1] >= count) return false;
    for (std::size_t set = 0; set < sets; ++set) {
      if (set > 0 && begins[set] <= begins[set - 1]) return false;
      const auto order = attributes[set].srcAccessOrder;
      if (order < cudaMemcpySrcAccessOrderStream || order > cudaMemcpySrcAccessOrderAny) {
        return false;
      }
    }
    return true;
  }
  cudaMemcpySrcAccessOrder order_of(std::size_t index) const {
    std::size_t set = 0;
    while (set + 1 < sets && begins[set + 1] <= index) ++set;
    return attributes[set].srcAccessOrder;
  }
};

cudaError_t copy_batch(CUstream_st& stream, const Batch& batch) {
  std::vector<Copy> copies(batch.count);
  for (std::size_t index = 0; index < batch.count; ++index) {
    Copy& copy = copies[index];
    if (const cudaError_t refused = make_copy(batch.to[index], batch.from[index],
                                              batch.bytes[index], cudaMemcpyDefault, copy)) {
      return refused;
    }
    const bool during_call = batch.order_of(index) == cudaMemcpySrcAccessOrderDuringApiCall;
    if (during_call && place_of(copy.from) != Place::device) stage(copy);
  }
  std::vector<Work> works;
  for (Copy& copy : copies) {
    if (copy.staged == nullptr) lint_pageable(copy, false);
    works.emplace_back(std::move(copy));
  }
  submit_unordered(stream, std::move(works));
  return cudaSuccess;
}

}  // namespace

cudaError_t cudaMemcpy(void* to, const void* from, std::size_t bytes, cudaMemcpyKind kind) {
  return call(CallId::cudaMemcpy, [&]() -> cudaError_t { return copy_now(to, from, bytes, kind); });
}

cudaError_t cudaMemcpyAsync(void* to, const void* from, std::size_t bytes, cudaMemcpyKind kind,
                            cudaStream_t handle) {
  return call(CallId::cudaMemcpyAsync, [&]() -> cudaError_t {
    return use_stream(CallId::cudaMemcpyAsync, handle, [&](CUstream_st& stream) -> cudaError_t {
      Copy copy;
      if (const cudaError_t refused = make_copy(to, from, bytes, kind, copy)) return refused;
      return copy_in_stream(stream, std::move(copy));
    });
  });
}

// Rule 13: refused in a capture, which stays valid and lacks the copies. Those of one batch come in
// no order.
cudaError_t cudaMemcpyBatchAsync(void* const* to, const void* const* from, const std::size_t* bytes,
                                 std::size_t count, cudaMemcpyAttributes* attributes,
                                 std::size_t* begins, std::size_t sets, cudaStream_t handle) {
  return call(CallId::cudaMemcpyBatchAsync, [&]() -> cudaError_t {
    CUstream_st* stream = stream_of(handle);
    if (stream == nullptr) return cudaErrorInvalidResourceHandle;
    if (stream->legacy) return cudaErrorInvalidValue;
    const Batch batch{to, from, bytes, count, attributes, begins, sets};
    if (!batch.is_sound()) return cudaErrorInvalidValue;
    if (const cudaError_t refused = refuse_uncapturable(*stream)) return refused;
    return copy_batch(*stream, batch);
  });
}

// Asynchronous to the host, but for pinned memory.
cudaError_t cudaMemset(void* to, int value, std::size_t bytes) {
  return call(CallId::cudaMemset, [&]() -> cudaError_t {
    TaskRef task;
    if (const cudaError_t refused = fill_in_stream(*stream_of(nullptr), to, value, bytes, &task)) {
      return refused;
    }
    return place_of(to) == Place::device ? cudaSuccess : wait_for(task);
  });
}

cudaError_t cudaMemsetAsync(void* to, int value, std::size_t bytes, cudaStream_t handle) {
  return call(CallId::cudaMemsetAsync, [&]() -> cudaError_t {
    return use_stream(CallId::cudaMemsetAsync, handle, [&](CUstream_st& stream) {
      return fill_in_stream(stream, to, value, bytes);
    });
  });
}
