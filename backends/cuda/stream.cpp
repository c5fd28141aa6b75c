// Going live, and making a graph of what was noted.
// SPDX-License-Identifier: Apache-2.0
#include "backends/cuda/stream.h"

#include <fmt/format.h>

#include <chrono>
#include <mutex>
#include <utility>

#include "backends/cuda/capture_lock.h"
#include "backends/cuda/error.h"
#include "backends/cuda/graph_maker.h"
#include "backends/cuda/recording.h"
#include "backends/cuda/stopwatch.h"
#include "ops/base/check.h"

namespace stepscope::cuda {
namespace {

// Errors of the body name the phase.
template <class Body>
void in_phase(Phase phase, Body body) {
  try {
    body();
  } catch (const Error& error) {
    fail(error.fault(), "{}: {}", name(phase), error.what());
  }
}

// One that succeeds makes no text.
void check_transfer(cudaError_t result, std::size_t bytes, HostPages pages,
                    std::string_view where) {
  if (result == cudaSuccess) [[likely]]
    return;
  check_cuda(result, fmt::format("cudaMemcpyAsync of {} {} bytes {}", bytes,
                                 pages == HostPages::pinned ? "pinned" : "pageable", where));
}

using Clock = std::chrono::steady_clock;

std::int64_t since(Clock::time_point begin) {
  return std::chrono::nanoseconds(Clock::now() - begin).count();
}

std::size_t free_bytes() {
  std::size_t free = 0, total = 0;
  check_cuda(cudaMemGetInfo(&free, &total), "cuda: recording: cudaMemGetInfo");
  return free;
}

// Executable and on the device, so that the first replay is like all others.
std::unique_ptr<CudaRecording> instantiate(MadeGraph made, std::vector<RecordedCopy> copies,
                                           std::size_t launches, cudaStream_t stream) {
  ExecHandle exec;
  CudaRecording::Facts facts{
      .launches = launches, .nodes = made.nodes, .times = {}, .bytes = std::nullopt};
  const std::size_t before = free_bytes();
  Clock::time_point begin = Clock::now();
  check_cuda(cudaGraphInstantiate(exec.fill(), made.graph.value(), 0),
             fmt::format("cuda: recording: cudaGraphInstantiate of {} nodes", made.nodes));
  facts.times.instantiate_ns = since(begin);
  begin = Clock::now();
  check_cuda(cudaGraphUpload(exec.value(), stream), "cuda: recording: cudaGraphUpload");
  check_cuda(cudaStreamSynchronize(stream), "cuda: recording: cudaStreamSynchronize of the upload");
  facts.times.upload_ns = since(begin);
  const std::size_t after = free_bytes();
  facts.bytes = before > after ? before - after : 0;
  std::vector<RecordedCall> calls;
  for (const CallNodes& each : made.calls) calls.push_back(each.call);
  std::vector<RecordedNode> nodes = nodes_of(copies, made);
  return std::make_unique<CudaRecording>(std::move(exec), std::move(copies), std::move(calls),
                                         facts, std::move(nodes));
}

}  // namespace

CudaStream::CudaStream() : stream_(std::make_shared<StreamHandle>()) {
  check_cuda(cudaStreamCreateWithFlags(stream_->fill(), cudaStreamNonBlocking),
             "cudaStreamCreateWithFlags");
  check_cuda(cudaStreamCreateWithFlags(rehearsal_.fill(), cudaStreamDefault),
             "cudaStreamCreateWithFlags for rehearsals");
  submission_.stream = live();
}

CudaStream::~CudaStream() { forget(cudaStreamSynchronize(live())); }

void CudaStream::wait() { check_cuda(cudaStreamSynchronize(live()), "cudaStreamSynchronize"); }

void CudaStream::do_copy_in(std::byte* to, std::span<const std::byte> from) {
  in_phase(Phase::input_copy, [&] { staging_.copy_in(live(), to, from); });
}

void CudaStream::do_copy_out(std::span<std::byte> to, const std::byte* from) {
  in_phase(Phase::readback, [&] { staging_.copy_out(live(), to, from); });
}

void CudaStream::do_record_copy(std::byte* to, CopySource& from, std::size_t bytes) {
  check(noted_.empty(), Fault::bad_input,
        "cuda: inputs are copied in front of the launches, and {} are recorded already",
        noted_.size());
  noted_copies_.push_back({&static_cast<CudaCopySource&>(from), to, bytes});
}

void CudaStream::do_transfer_in(std::byte* to, std::span<const std::byte> from, HostPages pages) {
  check_transfer(cudaMemcpyAsync(to, from.data(), from.size(), cudaMemcpyHostToDevice, live()),
                 from.size(), pages, "to the device");
}

void CudaStream::do_transfer_out(std::span<std::byte> to, const std::byte* from, HostPages pages) {
  check_transfer(cudaMemcpyAsync(to.data(), from, to.size(), cudaMemcpyDeviceToHost, live()),
                 to.size(), pages, "from the device");
}

std::unique_ptr<CopySource> CudaStream::do_make_copy_source(std::size_t bytes) {
  return std::make_unique<CudaCopySource>(bytes);
}

std::unique_ptr<Stopwatch> CudaStream::make_stopwatch() {
  return std::make_unique<CudaStopwatch>(stream_);
}

void CudaStream::begin_recording(RecordAs as) {
  check(as == RecordAs::capture || as == RecordAs::nodes, Fault::unsupported,
        "cuda: a recording is a graph, by capture or of nodes; it has no tape");
  check(!recording_, Fault::bad_input, "cuda: a recording was begun and not ended");
  noted_.clear();
  noted_copies_.clear();
  record_as_ = as;
  recording_ = true;
}

std::unique_ptr<Recording> CudaStream::end_recording() {
  check(recording_, Fault::bad_input, "cuda: no recording was begun");
  recording_ = false;
  const std::vector<NotedLaunch> launches = std::exchange(noted_, {});
  std::vector<RecordedCopy> copies = std::exchange(noted_copies_, {});
  const std::lock_guard lock(capture_lock());
  const MadeGraph rehearsed =
      GraphMaker(*this, rehearsal_.value(), RecordAs::capture).make(copies, launches);
  MadeGraph made = GraphMaker(*this, live(), record_as_).make(copies, launches);
  check_same_calls(launches, rehearsed, made);
  return instantiate(std::move(made), std::move(copies), launches.size(), live());
}

// Nothing was asked of the device: what was noted is all there is.
void CudaStream::abandon_recording() noexcept {
  recording_ = false;
  noted_.clear();
  noted_copies_.clear();
}

void CudaStream::keep(const Launch& launch, CallBy by) { maker_->keep(launch, by); }

cudaStream_t CudaStream::begin_library_capture() { return maker_->begin_library_capture(); }

void CudaStream::end_library_capture() { maker_->end_library_capture(); }

}  // namespace stepscope::cuda
