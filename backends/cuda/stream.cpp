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
#include "ops/base/check.h"

namespace stepscope::cuda {
namespace {

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
std::unique_ptr<CudaRecording> instantiate(MadeGraph made, std::size_t launches,
                                           cudaStream_t stream) {
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
  return std::make_unique<CudaRecording>(std::move(exec), std::move(calls), facts);
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
  staging_.copy_in(live(), to, from);
}

void CudaStream::do_copy_out(std::span<std::byte> to, const std::byte* from) {
  staging_.copy_out(live(), to, from);
}

void CudaStream::begin_recording(RecordAs as) {
  check(as == RecordAs::capture || as == RecordAs::nodes, Fault::unsupported,
        "cuda: a recording is a graph, by capture or of nodes; it has no tape");
  check(!recording_, Fault::bad_input, "cuda: a recording was begun and not ended");
  noted_.clear();
  record_as_ = as;
  recording_ = true;
}

std::unique_ptr<Recording> CudaStream::end_recording() {
  check(recording_, Fault::bad_input, "cuda: no recording was begun");
  recording_ = false;
  const std::vector<NotedLaunch> launches = std::exchange(noted_, {});
  const std::lock_guard lock(capture_lock());
  const MadeGraph rehearsed =
      GraphMaker(*this, rehearsal_.value(), RecordAs::capture).make(launches);
  MadeGraph made = GraphMaker(*this, live(), record_as_).make(launches);
  check_same_calls(launches, rehearsed, made);
  return instantiate(std::move(made), launches.size(), live());
}

void CudaStream::keep(const Launch& launch, CallBy by) { maker_->keep(launch, by); }

cudaStream_t CudaStream::begin_library_capture() { return maker_->begin_library_capture(); }

void CudaStream::end_library_capture() { maker_->end_library_capture(); }

}  // namespace stepscope::cuda
