// call: what every simulated call passes before its body and after it.
// SPDX-License-Identifier: Apache-2.0
#include "backends/cuda/sim/call.h"

#include <fmt/format.h>

#include <array>
#include <atomic>
#include <vector>

#include "backends/cuda/sim/call_state.h"
#include "backends/cuda/sim/capture.h"
#include "backends/cuda/sim/clock.h"
#include "backends/cuda/sim/driver.h"
#include "backends/cuda/sim/executor.h"
#include "backends/cuda/sim/lint.h"
#include "backends/cuda/sim/schedule.h"
#include "backends/cuda/sim/stream.h"

namespace stepscope::cudasim {
namespace {

constexpr CallInfo kCalls[] = {
#define CALL(name, library, legality) {#name, Library::library, Legality::legality},
#include "backends/cuda/sim/calls.inc"
};
constexpr std::size_t kCallCount = std::size(kCalls);

struct Injected {
  CallId id;
  int code;
  int nth;  // 1: the next call
};

struct Calls {
  std::array<std::uint64_t, kCallCount> made{};
  std::vector<Injected> injected;
  Driver driver = driver_of_environment();
  std::uint64_t epoch = 1;  // of reset(): last errors of before are gone in every thread
};

Calls& calls() {
  static Calls& state = *new Calls;
  return state;
}

struct LastError {
  std::uint64_t epoch = 0;
  cudaError_t error = cudaSuccess;
};

LastError& last() {
  static thread_local LastError error;
  if (error.epoch != calls().epoch) error = {calls().epoch, cudaSuccess};
  return error;
}

std::optional<int> injected_fault(CallId id) {
  std::optional<int> code;
  std::erase_if(calls().injected, [&](Injected& fault) {
    if (fault.id != id || --fault.nth > 0) return false;
    code = fault.code;
    return true;
  });
  return code;
}

bool is_of_device(int code) {
  return code == cudaErrorIllegalAddress || code == cudaErrorAssert ||
         code == cudaErrorMisalignedAddress || code == cudaErrorLaunchFailure;
}

// What a library answers when the runtime refuses what it asks for.
std::optional<int> library_refusal(CallId id) {
  switch (id) {
    case CallId::cublasLtCreate:
      return CUBLAS_STATUS_NOT_INITIALIZED;
    case CallId::cublasLtMatmul:
      return CUBLAS_STATUS_EXECUTION_FAILED;
    case CallId::cudnnCreate:
      return CUDNN_STATUS_NOT_INITIALIZED;
    default:
      return {};
  }
}

// Rule 34. What only reads versions or a descriptor goes on: no device has a part in it.
std::optional<int> refused_by_fault(CallId id) {
  const cudaError_t fault = sticky();
  if (fault == cudaSuccess) return {};
  if (info_of(id).library != Library::runtime) return library_refusal(id);
  const bool versions = id == CallId::cudaDriverGetVersion || id == CallId::cudaRuntimeGetVersion ||
                        id == CallId::cudaGetDriverEntryPointByVersion;
  if (versions) return {};
  return fault;
}

// What a library answers when a runtime call of its own was refused by a capture.
std::optional<int> as_status_of(Library library, cudaError_t error) {
  if (error == cudaSuccess) return {};
  switch (library) {
    case Library::runtime:
      return error;
    case Library::cublaslt:
      return CUBLAS_STATUS_NOT_INITIALIZED;
    case Library::cudnn:
      return CUDNN_STATUS_NOT_INITIALIZED;
    case Library::cupti:
      return CUPTI_ERROR_UNKNOWN;
  }
  return error;
}

// Rule 21; kernels call nothing either.
std::optional<int> refused_by_place(CallId id) {
  if (!in_host_function() && !in_kernel()) return {};
  const CallInfo& info = info_of(id);
  if (info.library == Library::runtime) return cudaErrorNotPermitted;
  if (const auto refused = library_refusal(id)) return refused;
  if (info.legality != Legality::unsafe && info.legality != Legality::work) return {};
  return as_status_of(info.library, cudaErrorNotPermitted);
}

std::optional<int> refused_by_capture(CallId id) {
  const CallInfo& info = info_of(id);
  if (info.legality == Legality::unsafe) return as_status_of(info.library, refuse_unsafe(id));
  if (info.legality == Legality::device_wait) {
    return as_status_of(info.library, refuse_device_wait());
  }
  return {};
}

}  // namespace

const CallInfo& info_of(CallId id) { return kCalls[static_cast<std::size_t>(id)]; }

std::optional<CallId> call_named(std::string_view name) {
  for (std::size_t index = 0; index < kCallCount; ++index) {
    if (kCalls[index].name == name) return static_cast<CallId>(index);
  }
  return {};
}

std::size_t call_count() { return kCallCount; }

std::recursive_mutex& state_lock() {
  static std::recursive_mutex& lock = *new std::recursive_mutex;
  return lock;
}

std::optional<int> enter(CallId id) {
  ++calls().made[static_cast<std::size_t>(id)];
  move_host(costs().any_call);
  give_turn();
  if (const auto refused = refused_by_driver(calls().driver, id)) return refused;
  if (const auto refused = refused_by_place(id)) return refused;
  if (const auto refused = injected_fault(id)) {
    if (info_of(id).library == Library::runtime && is_of_device(*refused)) {
      lose_device(static_cast<cudaError_t>(*refused));
    }
    return refused;
  }
  if (const auto refused = refused_by_fault(id)) return refused;
  return refused_by_capture(id);
}

cudaError_t leave(CallId id, cudaError_t result) {
  if (result == cudaSuccess) return result;
  // These two tell of an error that another call handed out.
  if (id == CallId::cudaGetLastError || id == CallId::cudaPeekAtLastError) return result;
  last().error = result;
  // "Not ready" is an answer, not an error; nobody can collect a device's fault or a missing
  // driver.
  const bool counts = result != cudaErrorNotReady && result != sticky() &&
                      !refused_by_driver(calls().driver, id).has_value();
  if (counts) {
    error_handed_out(fmt::format("{} returned {} ({})", info_of(id).name, static_cast<int>(result),
                                 cudaGetErrorName(result)));
  }
  return result;
}

std::uint64_t this_thread() {
  static std::atomic<std::uint64_t>& threads = *new std::atomic<std::uint64_t>(0);
  static thread_local const std::uint64_t number = ++threads;
  return number;
}

cudaError_t last_error() { return last().error; }

cudaError_t take_last_error() {
  const cudaError_t error = last().error;
  last().error = cudaSuccess;
  if (error != cudaSuccess && error != cudaErrorNotReady) error_collected();
  return error;
}

Driver current_driver() { return calls().driver; }

void inject(CallId id, int code, int nth) { calls().injected.push_back({id, code, nth}); }

std::uint64_t times_made(CallId id) { return calls().made[static_cast<std::size_t>(id)]; }

void reset_calls(Driver driver) {
  calls().made.fill(0);
  calls().injected.clear();
  calls().driver = driver;
  ++calls().epoch;
}

}  // namespace stepscope::cudasim
