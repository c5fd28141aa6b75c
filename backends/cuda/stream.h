// CudaStream: launches go to a stream that does not obey the legacy one, or into a recording.
//
// submit() and record_copy() while recording only note what is asked for. end_recording() then
// makes the graph, in steps that each name the op that failed: a rehearsal captured on a *blocking*
// stream, so that a call which strays to the legacy stream fails loudly; the graph itself, by
// stream capture or of explicit nodes; its inventory against the rehearsal's, op by op;
// instantiation; upload. A launch that allocates, waits, adds a node that is no kernel, or adds
// none is refused with its op.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "backends/api/stream.h"
#include "backends/cuda/handles.h"
#include "backends/cuda/staging.h"
#include "backends/cuda/submission.h"

namespace stepscope::cuda {

class GraphMaker;
struct RecordedCopy;

// A launch that a recording shall hold, on behalf of op `op`.
struct NotedLaunch {
  Launch launch;
  std::uint32_t op;
};

class CudaStream final : public Stream {
 public:
  CudaStream();
  ~CudaStream() override;

  void wait() override;
  void begin_recording(RecordAs as) override;  // capture or nodes
  std::unique_ptr<Recording> end_recording() override;
  void abandon_recording() noexcept override;
  std::unique_ptr<Stopwatch> make_stopwatch() override;

  // For launch functions. Where their device code goes now: own kernels through submit() of
  // submission.cuh, library calls through library_call().
  Submission& submission() { return submission_; }
  // Calls body(cudaStream_t) -> void with the stream that a library shall use: the live one, the
  // one that captures, or, between explicit nodes, one that captures into the graph behind the last
  // node.
  template <class Body>
  void library_call(Body body);
  // Each call, before it is made: counted and logged when live, kept when recording.
  void report(const Launch& launch, CallBy by) {
    if (maker_ != nullptr) [[unlikely]] {
      keep(launch, by);
      return;
    }
    made_call(launch, by);
  }

  cudaStream_t live() const { return stream_->value(); }

 private:
  friend class CudaRecording;
  friend class GraphMaker;

  void record(const Launch& launch, std::uint32_t op) override { noted_.push_back({launch, op}); }
  void do_copy_in(std::byte* to, std::span<const std::byte> from) override;
  void do_copy_out(std::span<std::byte> to, const std::byte* from) override;
  void do_record_copy(std::byte* to, CopySource& from, std::size_t bytes) override;
  std::unique_ptr<CopySource> do_make_copy_source(std::size_t bytes) override;
  void do_transfer_in(std::byte* to, std::span<const std::byte> from, HostPages pages) override;
  void do_transfer_out(std::span<std::byte> to, const std::byte* from, HostPages pages) override;
  void keep(const Launch& launch, CallBy by);
  cudaStream_t begin_library_capture();
  void end_library_capture();

  std::shared_ptr<StreamHandle> stream_;  // recordings that were replayed in it wait for it
  StreamHandle rehearsal_;                // blocking; made with the stream, never inside a capture
  Staging staging_;
  Submission submission_;
  RecordAs record_as_ = RecordAs::capture;
  std::vector<RecordedCopy> noted_copies_;
  std::vector<NotedLaunch> noted_;
  GraphMaker* maker_ = nullptr;  // while a graph is made
};

template <class Body>
void CudaStream::library_call(Body body) {
  if (submission_.graph == nullptr) {
    body(submission_.stream);
    return;
  }
  body(begin_library_capture());
  end_library_capture();
}

}  // namespace stepscope::cuda
