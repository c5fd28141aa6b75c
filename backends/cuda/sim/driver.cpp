// driver: refusals of a machine without a driver, an old one, the stub library, no device.
// SPDX-License-Identifier: Apache-2.0
#include "backends/cuda/sim/driver.h"

#include <cstdio>
#include <cstdlib>
#include <string_view>

namespace stepscope::cudasim {
namespace {

int runtime_refusal(Driver driver) {
  switch (driver) {
    case Driver::stub:
      return cudaErrorStubLibrary;
    case Driver::no_device:
      return cudaErrorNoDevice;
    default:
      return cudaErrorInsufficientDriver;
  }
}

std::optional<int> runtime(Driver driver, CallId id) {
  // The only two that answer from the runtime alone.
  if (id == CallId::cudaDriverGetVersion || id == CallId::cudaRuntimeGetVersion) return {};
  return runtime_refusal(driver);
}

std::optional<int> cublaslt(CallId id) {
  const bool needs_device = id == CallId::cublasLtCreate || id == CallId::cublasLtMatmul ||
                            id == CallId::cublasLtMatmulAlgoGetHeuristic ||
                            id == CallId::cublasLtMatmulAlgoCheck;
  if (!needs_device) return {};  // descriptors are the host's alone
  return CUBLAS_STATUS_NOT_INITIALIZED;
}

std::optional<int> cudnn(CallId id) {
  if (id != CallId::cudnnCreate) return {};
  return CUDNN_STATUS_NOT_INITIALIZED;
}

std::optional<int> cupti(Driver driver, CallId id) {
  if (id == CallId::cuptiGetVersion || id == CallId::cuptiGetTimestamp) return {};
  // Measured: without a library to ask, registering succeeds; the stub library answers it.
  if (id == CallId::cuptiActivityRegisterCallbacks && driver != Driver::stub) return {};
  return CUPTI_ERROR_UNKNOWN;
}

}  // namespace

std::optional<int> refused_by_driver(Driver driver, CallId id) {
  if (driver == Driver::present) return {};
  switch (info_of(id).library) {
    case Library::runtime:
      return runtime(driver, id);
    case Library::cublaslt:
      return cublaslt(id);
    case Library::cudnn:
      return cudnn(id);
    case Library::cupti:
      return cupti(driver, id);
  }
  return {};
}

int driver_version(Driver driver) {
  switch (driver) {
    case Driver::none:
    case Driver::stub:  // measured: the stub's version is not told
      return 0;
    case Driver::old:
      return kOldDriverVersion;
    case Driver::present:
    case Driver::no_device:
      return kRuntimeVersion;
  }
  return 0;
}

Driver driver_of_environment() {
  const char* value = std::getenv("STEPSCOPE_CUDASIM_DRIVER");
  if (value == nullptr) return Driver::present;
  const std::string_view name = value;
  if (name == "present") return Driver::present;
  if (name == "none") return Driver::none;
  if (name == "old") return Driver::old;
  if (name == "stub") return Driver::stub;
  if (name == "no_device") return Driver::no_device;
  std::fprintf(stderr,
               "stepscope cudasim: STEPSCOPE_CUDASIM_DRIVER is \"%s\"; set it to present, none, "
               "old, stub or no_device\n",
               value);
  std::exit(2);
}

}  // namespace stepscope::cudasim
