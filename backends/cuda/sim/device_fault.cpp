// Device fault: what is said of a kernel that broke a rule: who, where, and which rule.
// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <utility>

#include "backends/cuda/sim/running_block.h"

namespace stepscope::cudasim {
namespace {

std::string where(const Site& site) { return fmt::format("{}:{}", site.file_name(), site.line()); }

std::string call_of(unsigned thread) {
  const RunningBlock& block = running_block();
  const Offer& offer = block.waiting[thread].offer;
  return fmt::format("{} with mask {:#010x}", name_of(offer.kind), offer.mask);
}

std::string waits(unsigned thread) {
  const RunningBlock& block = running_block();
  const bool barrier = block.states[thread] == ThreadState::at_barrier;
  return fmt::format("{} waits in {} at {}", coordinates(thread),
                     barrier ? "__syncthreads" : call_of(thread),
                     where(block.waiting[thread].site));
}

// One that waits at the barrier, and one that waits for lanes: together they say who is missing.
std::string deadlock_text(unsigned thread) {
  const RunningBlock& block = running_block();
  std::string text = fmt::format("deadlock: no thread can go on; {}", waits(thread));
  for (unsigned other = 0; other < block.threads; ++other) {
    if (block.states[other] != ThreadState::exited &&
        (block.states[other] != block.states[thread] ||
         block.waiting[other].offer.mask != block.waiting[thread].offer.mask)) {
      return fmt::format("{}, and {}", text, waits(other));
    }
  }
  return text;
}

template <class... T>
DeviceFault failure(fmt::format_string<T...> format, T&&... values) {
  return {cudaErrorLaunchFailure, fmt::format(format, std::forward<T>(values)...)};
}

DeviceFault shared_fault(const PendingFault& fault, const std::string& who) {
  const std::size_t dynamic = running_block().call->dynamic_shared;
  if (dynamic == 0 || fault.number - dynamic > kSharedLimit) {
    return failure("{} bytes of shared arrays, the limit is {}: {}", fault.number - dynamic,
                   kSharedLimit, who);
  }
  return failure(
      "{} bytes of shared arrays beside {} of dynamic shared memory, the limit is {}: {}",
      fault.number - dynamic, dynamic, shared_limit(), who);
}

DeviceFault warp_fault(const PendingFault& fault, const std::string& who) {
  const std::string call = call_of(fault.thread);
  switch (fault.kind) {
    case FaultKind::mask_without_caller:
      return failure("{} without the caller's own lane {}: {}", call, fault.thread % kWarpSize,
                     who);
    case FaultKind::masks_differ:
      return failure("masks differ: {} calls {}, but {}", who, call, waits(fault.other));
    case FaultKind::collectives_differ:
      return failure("lanes meet in different calls: {} calls {} of {} bytes, but {}", who, call,
                     running_block().waiting[fault.thread].offer.bytes, waits(fault.other));
    case FaultKind::bad_operand:
      return failure("{} with the lane, delta or lane mask {}, not one of 0 to 31: {}", call,
                     static_cast<int>(fault.number), who);
    case FaultKind::bad_width:
      return failure("{} of width {}, not a power of 2 up to 32: {}", call,
                     static_cast<int>(fault.number), who);
    default:
      return failure("{} reads lane {}, which takes no part: {}", call, fault.number, who);
  }
}

}  // namespace

const char* name_of(Collective kind) {
  switch (kind) {
    case Collective::sync_warp:
      return "__syncwarp";
    case Collective::shuffle_index:
      return "__shfl_sync";
    case Collective::shuffle_up:
      return "__shfl_up_sync";
    case Collective::shuffle_down:
      return "__shfl_down_sync";
    case Collective::shuffle_xor:
      return "__shfl_xor_sync";
    case Collective::ballot:
      return "__ballot_sync";
    case Collective::any:
      return "__any_sync";
    case Collective::all:
      return "__all_sync";
  }
  return "";
}

std::string coordinates(unsigned thread) {
  const RunningBlock& block = running_block();
  const dim3& size = block.call->block;
  return fmt::format("block ({},{},{}), thread ({},{},{})", block.index.x, block.index.y,
                     block.index.z, thread % size.x, thread / size.x % size.y,
                     thread / size.x / size.y);
}

PendingFault deadlock() {
  const RunningBlock& block = running_block();
  unsigned thread = 0;
  while (block.states[thread] == ThreadState::exited) {
    ++thread;
  }
  return {FaultKind::deadlock, thread, block.waiting[thread].site};
}

DeviceFault fault_of(const PendingFault& fault) {
  const std::string who = fmt::format("{} at {}", coordinates(fault.thread), where(fault.site));
  switch (fault.kind) {
    case FaultKind::divergent_barrier:
      return failure("divergent barrier: {}, but {} waits at {}", who, coordinates(fault.other),
                     where(fault.other_site));
    case FaultKind::shared_limit:
      return shared_fault(fault, who);
    case FaultKind::shared_count:
      return failure("more than {} shared arrays: {}", fault.number, who);
    case FaultKind::deadlock:
      return {cudaErrorLaunchFailure, deadlock_text(fault.thread)};
    default:
      return warp_fault(fault, who);
  }
}

}  // namespace stepscope::cudasim
