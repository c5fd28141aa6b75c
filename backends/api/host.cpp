// Host memory, the synchronous stream, the tape, and the table of makers.
// SPDX-License-Identifier: Apache-2.0
#include "backends/api/host.h"

#include <algorithm>
#include <fstream>
#include <new>
#include <string>

#include "backends/api/dead_memory.h"
#include "ops/base/check.h"
#include "ops/ir/op_def.h"

namespace stepscope {

HostMemory::HostMemory(std::size_t bytes) : bytes_(bytes) {
  void* block =
      ::operator new (bytes == 0 ? 1 : bytes, std::align_val_t{kHostAlignment}, std::nothrow);
  check(block != nullptr, Fault::device, "host memory: no {} bytes to be had", bytes);
  data_ = static_cast<std::byte*>(block);
}

HostMemory::~HostMemory() {
  unpoison_memory(data_, bytes_);
  ::operator delete (data_, std::align_val_t{kHostAlignment});
}

void Tape::replay(Stream& stream) {
  ReplayScope scope(stream);
  std::size_t i = 0;
  try {
    for (; i < calls_.size(); ++i) {
      scope.at_op(calls_[i].op);
      calls_[i].launch.fn(calls_[i].launch, stream);
    }
  } catch (const Error& error) {
    const Call& call = calls_[i];
    throw RecordingError(
        error.fault(), call.op, error.what(),
        fmt::format("op {} {}: {}", call.op, name(call.launch.kernel->site().kind), error.what()));
  }
}

std::vector<RecordedNode> Tape::nodes() const {
  std::vector<RecordedNode> nodes;
  for (const Call& call : calls_) nodes.push_back({call.op, std::nullopt, "a record of the tape"});
  return nodes;
}

void HostStream::begin_recording(RecordAs as) {
  check(as == RecordAs::tape, Fault::unsupported, "host stream: records a tape, nothing else");
  check(!recording_, Fault::device, "host stream: it is recording already");
  tape_ = std::make_unique<Tape>();
  recording_ = true;
}

std::unique_ptr<Recording> HostStream::end_recording() {
  check(recording_, Fault::device, "host stream: no recording was begun");
  recording_ = false;
  return std::move(tape_);
}

void HostStream::abandon_recording() noexcept {
  recording_ = false;
  tape_.reset();
}

void HostStream::do_copy_in(std::byte* to, std::span<const std::byte> from) {
  std::copy(from.begin(), from.end(), to);
}

void HostStream::do_copy_out(std::span<std::byte> to, const std::byte* from) {
  std::copy_n(from, to.size(), to.begin());
}

std::unique_ptr<Memory> HostBackend::allocate(std::size_t bytes) {
  return std::make_unique<HostMemory>(bytes);
}

std::unique_ptr<Kernel> HostBackend::lower(const OpSite& site) {
  const auto maker = makers_.find(site.kind);
  check(maker != makers_.end(), Fault::unsupported, "{}: has no kernel for {}", name(),
        stepscope::name(site.kind));
  return maker->second(site);
}

void HostBackend::mark_dead(std::byte* data, std::size_t bytes) {
  if constexpr (kFillDeadMemory) {
    unpoison_memory(data, bytes);
    fill_dead_memory(data, bytes);
  }
  poison_memory(data, bytes);
}

void HostBackend::mark_live(std::byte* data, std::size_t bytes) { unpoison_memory(data, bytes); }

std::string processor_name() {
  std::ifstream cpuinfo("/proc/cpuinfo");
  constexpr std::string_view kField = "model name";
  for (std::string line; std::getline(cpuinfo, line);) {
    if (!line.starts_with(kField)) continue;
    const std::size_t colon = line.find(':');
    if (colon != std::string::npos && colon + 2 < line.size()) return line.substr(colon + 2);
  }
  return "unknown processor";
}

}  // namespace stepscope
