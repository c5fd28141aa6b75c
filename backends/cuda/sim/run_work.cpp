// run_work: what a task does when its turn has come. The device's addresses are judged here, not at
// the call: what was freed in between is a fault.
// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <cstring>

#include "backends/cuda/sim/call.h"
#include "backends/cuda/sim/device_range.h"
#include "backends/cuda/sim/memory.h"
#include "backends/cuda/sim/requests.h"
#include "backends/cuda/sim/schedule.h"

namespace stepscope::cudasim {
namespace {

using Fault = std::optional<DeviceFault>;

bool& host_function_runs() {
  static thread_local bool runs = false;
  return runs;
}

struct InHostFunction {
  InHostFunction() { host_function_runs() = true; }
  ~InHostFunction() { host_function_runs() = false; }
  InHostFunction(const InHostFunction&) = delete;
  InHostFunction& operator=(const InHostFunction&) = delete;
};

DeviceFault illegal(std::string text) { return {cudaErrorIllegalAddress, std::move(text)}; }

// describe(), and whether the memory went while the work that names it was waiting.
std::string told(const void* address) {
  std::string text = describe(address);
  if (ended_under_way(address)) {
    text += ": it was freed or unregistered while work that uses it was waiting";
  }
  return text;
}

bool overlap(const Copy& copy) {
  const auto* to = static_cast<const std::byte*>(copy.to);
  const auto* from = static_cast<const std::byte*>(copy.from);
  return copy.staged == nullptr && to < from + copy.bytes && from < to + copy.bytes;
}

// A pointer may stand at the end of its block; what is read there is for ASan to say.
bool is_kernels(const void* pointer) {
  return pointer == nullptr || device_can_touch(pointer, 1) || device_can_touch(pointer, 0);
}

// A word of a struct is taken for a pointer where memory is or was: what else is there is a number,
// padding, or a pointer to memory that CUDA was never told of.
bool is_gone(const void* word) {
  if (was_taken(word)) return !is_kernels(word);
  return block_of(word) == nullptr && freed_block_of(word) != nullptr;
}

Fault check_parameters(const KernelCall& call) {
  Fault fault;
  std::size_t index = 0;
  for (const Parameter& parameter : call.signature->parameters) {
    each_word(parameter, call.arguments.data(), [&](std::size_t offset, const void* word) {
      if (fault || (parameter.pointer ? is_kernels(word) : !is_gone(word))) return;
      const std::string where =
          parameter.pointer ? std::string("is") : fmt::format("holds at byte {}", offset);
      fault = illegal(fmt::format("parameter {} of kernel {} {} {}, which the device cannot touch",
                                  index, call.function, where, told(word)));
    });
    ++index;
  }
  return fault;
}

// One end of a copy. Host memory that CUDA was never told of may be anything; what it knew and has
// freed may not, nor what it knew until the copy was submitted.
Fault check_end(const void* data, std::size_t bytes, std::string_view what) {
  const bool known =
      in_device_range(data) || freed_block_of(data) != nullptr || ended_under_way(data);
  const bool fine = bytes == 0 || !known || device_can_touch(data, bytes);
  if (fine) return {};
  return illegal(fmt::format("a copy of {} bytes {} {}, which is not there to be touched", bytes,
                             what, told(data)));
}

template <class Element>
void fill_rows(const Fill& fill) {
  const auto value = static_cast<Element>(fill.value);
  for (std::size_t row = 0; row < fill.height; ++row) {
    auto* element = reinterpret_cast<Element*>(static_cast<std::byte*>(fill.to) + row * fill.pitch);
    for (std::size_t column = 0; column < fill.width; ++column) element[column] = value;
  }
}

struct Runner {
  const GridOrder& order;

  Fault operator()(const Nothing&) const { return {}; }

  Fault operator()(const KernelCall& call) const {
    ++counted().kernels;
    if (Fault planned = planned_fault()) return planned;
    if (Fault illegal_pointer = check_parameters(call)) return illegal_pointer;
    if (Fault fault = run_grid(call, order)) return fault;
    if (const std::string damage = damaged_gap(); !damage.empty()) {
      return illegal(fmt::format("kernel {} wrote outside of {}", call.function, damage));
    }
    return {};
  }

  Fault operator()(const LibraryCall& call) const {
    ++counted().library_calls;
    if (Fault planned = planned_fault()) return planned;
    for (const Extent& extent : call.touches) {
      if (device_can_touch(extent.data, extent.bytes)) continue;
      return illegal(fmt::format("{} touches {} bytes at {}, which is not all the device's",
                                 call.name, extent.bytes, told(extent.data)));
    }
    call.run();
    return {};
  }

  Fault operator()(const Copy& copy) const {
    ++counted().copies;
    if (Fault fault = check_end(copy.to, copy.bytes, "to")) return fault;
    const void* from = copy.staged != nullptr ? copy.staged->data() : copy.from;
    if (copy.staged == nullptr) {
      if (Fault fault = check_end(from, copy.bytes, "from")) return fault;
    }
    if (overlap(copy)) {
      return illegal(fmt::format("a copy of {} bytes from {} to {}: the areas overlap", copy.bytes,
                                 describe(copy.from), describe(copy.to)));
    }
    if (copy.bytes != 0) std::memcpy(copy.to, from, copy.bytes);
    return {};
  }

  Fault operator()(const Fill& fill) const {
    ++counted().fills;
    if (!device_can_touch(fill.to, extent_of(fill))) {
      return illegal(fmt::format("a fill of {} bytes at {}, which is not all the device's",
                                 extent_of(fill), told(fill.to)));
    }
    if (fill.element_size == 1) fill_rows<std::uint8_t>(fill);
    if (fill.element_size == 2) fill_rows<std::uint16_t>(fill);
    if (fill.element_size == 4) fill_rows<std::uint32_t>(fill);
    return {};
  }

  Fault operator()(const HostCall& call) const {
    ++counted().host_calls;
    const InHostFunction runs;
    if (call.callback) {
      call.callback(cudaSuccess);
    } else {
      call.function(call.data);
    }
    return {};
  }

  Fault operator()(const Allocate& allocate) const {
    const bool freed =
        ended_under_way(allocate.data);  // of a graph; what it left went unwaited for
    if (!freed && make_touchable(allocate.data, true) == cudaSuccess) return {};
    return illegal(fmt::format("a stream-ordered allocation begins at {}, which was freed before",
                               told(allocate.data)));
  }

  Fault operator()(const Release& release) const {
    const Block* block = block_of(release.data);
    const bool keeps = block != nullptr && block->of_graph && !release.ends;
    const cudaError_t result =
        keeps ? make_touchable(release.data, false) : free_device(release.data);
    if (result == cudaSuccess) return {};
    return illegal(fmt::format("a stream-ordered free of {}", told(release.data)));
  }
};

}  // namespace

bool in_host_function() { return host_function_runs(); }

std::optional<DeviceFault> run_work(const Work& work, const GridOrder& order) {
  return std::visit(Runner{order}, work);
}

bool is_hosts(const Work& work) { return std::holds_alternative<HostCall>(work); }

void tell_callback(const Work& work, cudaError_t fault) {
  const auto* call = std::get_if<HostCall>(&work);
  if (call == nullptr || !call->callback) return;
  const InHostFunction runs;
  call->callback(fault);
}

}  // namespace stepscope::cudasim
