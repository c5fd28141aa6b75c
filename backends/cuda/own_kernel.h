// How own kernels are made of the functions of device/run.h.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>

#include "backends/cuda/device/run.h"
#include "backends/cuda/error.h"
#include "backends/cuda/memory.h"
#include "backends/cuda/stream.h"

namespace stepscope::cuda {

// One submission of an own kernel: reported, then made.
template <class Submit>
void submit_own(const Launch& call, Stream& stream, Submit submit) {
  auto& cuda = static_cast<CudaStream&>(stream);
  cuda.report(call, CallBy::own);
  check_cuda(submit(cuda.submission()), "launch of an own kernel");
}

// Numbers: the struct of device/numbers.h that kRun takes.
template <class Numbers, cudaError_t (*kRun)(Submission&, Operands, const Numbers&)>
class OwnKernel : public Kernel {
 public:
  OwnKernel(const OpSite& site, std::uint32_t in_place, const Numbers& numbers)
      : Kernel(site, {.in_place = in_place}, launch), numbers_(numbers) {}

 private:
  static void launch(const Launch& call, Stream& stream) {
    const auto& self = static_cast<const OwnKernel&>(*call.kernel);
    submit_own(call, stream,
               [&](Submission& to) { return kRun(to, call.operands, self.numbers_); });
  }

 protected:
  Numbers numbers_;
};

using RunRows = cudaError_t (*)(Submission&, Operands, std::byte* scratch, const Rows&);

// Rows that end in one number: two kernels where they are dealt out to several blocks.
template <RunRows kRows, RunRows kTotal>
class TotalKernel final : public Kernel {
 public:
  TotalKernel(const OpSite& site, const Rows& rows)
      : Kernel(site, {.scratch = rows.partial_bytes()}, launch, rows.kernels()), rows_(rows) {}

 private:
  static void launch(const Launch& call, Stream& stream) {
    const Rows& rows = static_cast<const TotalKernel&>(*call.kernel).rows_;
    submit_own(call, stream,
               [&](Submission& to) { return kRows(to, call.operands, call.scratch, rows); });
    if (rows.kernels() == 1) return;
    submit_own(call, stream,
               [&](Submission& to) { return kTotal(to, call.operands, call.scratch, rows); });
  }

  Rows rows_;
};

// Holds the ticket that its blocks draw from when they count the step.
class AdamKernel final : public OwnKernel<Update, run_adam> {
 public:
  AdamKernel(const OpSite& site, const Update& numbers) : OwnKernel(site, 0, numbers) {
    if (!numbers.advance_step) return;
    ticket_ = std::make_unique<DeviceMemory>(sizeof(std::uint32_t));
    numbers_.ticket = reinterpret_cast<std::uint32_t*>(ticket_->data());
    check_cuda(cudaMemset(ticket_->data(), 0, sizeof(std::uint32_t)),
               "AdamUpdate: cudaMemset of its ticket");
    check_cuda(cudaStreamSynchronize(cudaStreamLegacy),
               "AdamUpdate: cudaStreamSynchronize behind the cudaMemset of its ticket");
  }

 private:
  std::unique_ptr<DeviceMemory> ticket_;
};

}  // namespace stepscope::cuda
