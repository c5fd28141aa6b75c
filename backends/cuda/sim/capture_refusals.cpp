// capture_refusals: what captures forbid to other calls, and to whom (rules 4 to 13).
// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "backends/cuda/sim/capture.h"
#include "backends/cuda/sim/capture_state.h"
#include "backends/cuda/sim/control.h"

namespace stepscope::cudasim {
namespace {

struct ThreadMode {
  std::uint64_t generation = 0;
  cudaStreamCaptureMode mode = cudaStreamCaptureModeGlobal;
};

// Of the calling thread; global again after a reset, in every thread.
cudaStreamCaptureMode& thread_mode() {
  static thread_local ThreadMode own;
  const std::uint64_t generation = capture_state().generation;
  if (own.generation != generation) own = {generation, cudaStreamCaptureModeGlobal};
  return own.mode;
}

// The calls that take no stream and go to the legacy one of themselves.
bool goes_to_legacy(CallId id) { return id == CallId::cudaMemcpy || id == CallId::cudaMemset; }

bool has_blocking_stream(const Capture& capture) {
  return std::any_of(capture.branches.begin(), capture.branches.end(),
                     [](const auto& branch) { return branch->stream->blocking; });
}

// 906, and every capture with a blocking stream is invalid; else 0.
cudaError_t refuse_implicit(std::string_view what) {
  cudaError_t result = cudaSuccess;
  for (const auto& capture : capture_state().live) {
    if (!has_blocking_stream(*capture)) continue;
    invalidate(*capture, fmt::format("{} while a blocking stream captures", what));
    result = cudaErrorStreamCaptureImplicit;
  }
  return result;
}

// Rule 11.
bool forbids_here(const Capture& capture, cudaStreamCaptureMode mode) {
  if (mode == cudaStreamCaptureModeRelaxed || capture.mode == cudaStreamCaptureModeRelaxed) {
    return false;
  }
  if (capture.thread == this_thread()) return true;
  return mode == cudaStreamCaptureModeGlobal && capture.mode == cudaStreamCaptureModeGlobal;
}

}  // namespace

cudaStreamCaptureMode exchange_mode(cudaStreamCaptureMode mode) {
  return std::exchange(thread_mode(), mode);
}

void invalidate(Capture& capture, std::string why) {
  if (!capture.invalid.empty()) return;
  capture.invalid = std::move(why);
  capture_state().fault = fmt::format("capture {}: {}", capture.id, capture.invalid);
}

cudaError_t refuse_wait(CUstream_st& stream) {
  if (stream.capture == nullptr) return cudaSuccess;
  if (!stream.capture->invalid.empty()) return cudaErrorStreamCaptureInvalidated;
  invalidate(*stream.capture, fmt::format("stream {} of it was waited for or queried", stream.id));
  return cudaErrorStreamCaptureUnsupported;
}

cudaError_t refuse_legacy(const CUstream_st& stream) {
  return stream.legacy ? refuse_implicit("the legacy stream was used") : cudaSuccess;
}

bool legacy_is_unusable(const CUstream_st& stream) {
  const auto& live = capture_state().live;
  return stream.legacy && std::any_of(live.begin(), live.end(), [](const auto& capture) {
           return has_blocking_stream(*capture);
         });
}

cudaError_t refuse_unsafe(CallId id) {
  const std::string_view name = info_of(id).name;
  if (goes_to_legacy(id)) {
    if (const cudaError_t refused = refuse_implicit(name)) return refused;
  }
  cudaError_t result = cudaSuccess;
  for (const auto& capture : capture_state().live) {
    if (!forbids_here(*capture, thread_mode())) continue;
    invalidate(*capture, fmt::format("{} is unsafe while it captures in its mode", name));
    result = cudaErrorStreamCaptureUnsupported;
  }
  return result;
}

cudaError_t refuse_device_wait() {
  for (const auto& capture : capture_state().live) {
    invalidate(*capture, "cudaDeviceSynchronize while it captures");
  }
  return anything_captures() ? cudaErrorStreamCaptureUnsupported : cudaSuccess;
}

cudaError_t refuse_uncapturable(CUstream_st& stream) {
  if (stream.capture == nullptr) return cudaSuccess;
  return stream.capture->invalid.empty() ? cudaErrorStreamCaptureUnsupported
                                         : cudaErrorStreamCaptureInvalidated;
}

cudaError_t refuse_invalid(const CUstream_st& stream) {
  const bool invalid = stream.capture != nullptr && !stream.capture->invalid.empty();
  return invalid ? cudaErrorStreamCaptureInvalidated : cudaSuccess;
}

void break_capture(CallId id, CUstream_st& stream, cudaError_t refusal) {
  if (stream.capture == nullptr) return;
  invalidate(*stream.capture, fmt::format("{} in stream {} was refused with {}", info_of(id).name,
                                          stream.id, static_cast<int>(refusal)));
}

bool anything_captures() { return !capture_state().live.empty(); }

std::string capture_fault() {
  const std::lock_guard lock(state_lock());
  return capture_state().fault;
}

void reset_captures() {
  CaptureState& state = capture_state();
  for (const auto& capture : state.live) capture->ended = true;  // events may still hold it
  state.live.clear();
  state.fault.clear();
  ++state.generation;
}

}  // namespace stepscope::cudasim
