// How own kernels are made of the functions of device/run.h.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <fmt/format.h>

#include <memory>
#include <optional>
#include <string_view>
#include <type_traits>
#include <utility>

#include "backends/cuda/device/run.h"
#include "backends/cuda/error.h"
#include "backends/cuda/memory.h"
#include "backends/cuda/stream.h"
#include "ops/ir/op_def.h"

namespace stepscope::cuda {

template <class Numbers>
using RunWithScratch = cudaError_t (*)(Submission&, Operands, std::byte* scratch, const Numbers&);

// kRun: of device/run.h. Numbers: the struct of device/numbers.h that it takes.
template <class Numbers, auto kRun>
class OwnKernel : public Kernel {
 public:
  OwnKernel(const OpSite& site, Needs needs, const Numbers& numbers)
      : Kernel(site, std::move(needs), launch), numbers_(numbers) {}

 private:
  static void launch(const Launch& call, Stream& stream) {
    const auto& self = static_cast<const OwnKernel&>(*call.kernel);
    auto& cuda = static_cast<CudaStream&>(stream);
    cuda.report(call, CallBy::own);
    check_cuda(self.run(call, cuda.submission()), "launch of an own kernel");
  }
  cudaError_t run(const Launch& call, Submission& to) const {
    if constexpr (std::is_same_v<decltype(kRun), RunWithScratch<Numbers>>) {
      return kRun(to, call.operands, call.scratch, numbers_);
    } else {
      return kRun(to, call.operands, numbers_);
    }
  }

 protected:
  Numbers numbers_;
};

// What blocks of one launch draw from (device/ticket.cuh): zero between launches.
class Tickets {
 public:
  Tickets(std::string_view op, std::uint32_t count) {
    if (count == 0) return;
    memory_.emplace(count * sizeof(std::uint32_t));
    check_cuda(cudaMemset(memory_->data(), 0, memory_->bytes()),
               fmt::format("{}: cudaMemset of its tickets", op));
    check_cuda(cudaStreamSynchronize(cudaStreamLegacy),
               fmt::format("{}: cudaStreamSynchronize behind the cudaMemset of its tickets", op));
  }
  std::uint32_t* first() {
    return memory_ ? reinterpret_cast<std::uint32_t*>(memory_->data()) : nullptr;
  }

 private:
  std::optional<DeviceMemory> memory_;
};

// Blocks meet in the scratch, and the last of them does the rest. The kernel holds the tickets.
template <class Numbers, auto kRun>
class TicketKernel final : public OwnKernel<Numbers, kRun> {
 public:
  TicketKernel(const OpSite& site, const Numbers& numbers)
      : OwnKernel<Numbers, kRun>(site, {.scratch = numbers.partial_bytes()}, numbers),
        tickets_(name(site.kind), numbers.tickets()) {
    this->numbers_.ticket = tickets_.first();
  }

 private:
  Tickets tickets_;
};

}  // namespace stepscope::cuda
