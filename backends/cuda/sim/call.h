// call: the one way into the simulator. Each simulated function is `return call(CallId::x, body)`.
//
// Before the body runs: the lock is taken, the call counted, the host's clock moved, the seeded
// schedule given a turn; then it is refused, in this order, for a driver that is not there, for
// being made in a host function (800; what a library would need of the runtime there, by its
// status), by an injected fault, by the device's sticky fault (700
// ...), by a capture that forbids it (900). After it: an error is remembered as the thread's last
// one and counted as handed out.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cublasLt.h>
#include <cuda_runtime_api.h>
#include <cudnn.h>
#include <cupti.h>

#include <cstdint>
#include <mutex>
#include <optional>
#include <string_view>

namespace stepscope::cudasim {

enum class CallId : std::uint16_t {
#define CALL(name, library, legality) name,
#include "backends/cuda/sim/calls.inc"
};

enum class Library : std::uint8_t { runtime, cublaslt, cudnn, cupti };

// What a capture does to a call.
enum class Legality : std::uint8_t {
  free,         // may be made at any time; the body looks at captures itself if it must
  unsafe,       // rule 10: forbidden by the capture modes of rule 11
  device_wait,  // rule 7: forbidden while anything captures
  work,         // goes to a stream, which knows whether it captures
};

struct CallInfo {
  std::string_view name;
  Library library;
  Legality legality;
};
const CallInfo& info_of(CallId id);
std::optional<CallId> call_named(std::string_view name);
std::size_t call_count();

// The lock of all state. Recursive: host functions run under it.
std::recursive_mutex& state_lock();

// The status of a refused call, or nothing. What it means is the library's: 35 of the runtime is 1
// of cuBLASLt (the table of the driverless machine, call.cpp).
std::optional<int> enter(CallId id);
// Remembers a runtime error as the thread's last one, and counts it as handed out.
cudaError_t leave(CallId id, cudaError_t result);
inline cublasStatus_t leave(CallId, cublasStatus_t result) { return result; }
inline cudnnStatus_t leave(CallId, cudnnStatus_t result) { return result; }
inline CUptiResult leave(CallId, CUptiResult result) { return result; }

// body() returns the status type of the library: cudaError_t, cublasStatus_t, cudnnStatus_t or
// CUptiResult. A body that calls other bodies calls functions, never simulated calls: those count.
template <class Body>
auto call(CallId id, Body body) -> decltype(body()) {
  const std::lock_guard lock(state_lock());
  if (const std::optional<int> refused = enter(id)) {
    return leave(id, static_cast<decltype(body())>(*refused));
  }
  return leave(id, body());
}

// Set while a host function runs on this thread: every runtime call is refused with 800 then (rule
// 21).
bool in_host_function();

// Of the calling thread, never another's; std::thread::id is given to new threads again.
std::uint64_t this_thread();

}  // namespace stepscope::cudasim
