// Asking the driver, and saying what it answered in words that tell what to do.
// SPDX-License-Identifier: Apache-2.0
#include "backends/cuda/probe.h"

#include <cuda_runtime_api.h>
#include <fmt/format.h>

#include <array>

#include "backends/cuda/error.h"
#include "ops/base/error.h"

namespace stepscope::cuda {
namespace {

// The device code of this build begins with Turing.
constexpr int kOldestMajor = 7, kOldestMinor = 5;

std::string version_text(int version) {  // CUDA counts 13000 for 13.0
  return fmt::format("{}.{}", version / 1000, version % 1000 / 10);
}

int driver_version() {
  int version = 0;
  check_cuda(cudaDriverGetVersion(&version), "cudaDriverGetVersion");
  return version;
}

int runtime_version() {
  int version = 0;
  check_cuda(cudaRuntimeGetVersion(&version), "cudaRuntimeGetVersion");
  return version;
}

int attribute(cudaDeviceAttr which) {
  int value = 0;
  check_cuda(cudaDeviceGetAttribute(&value, which, 0),
             fmt::format("cudaDeviceGetAttribute of {}", static_cast<int>(which)));
  return value;
}

std::string why_no_count(cudaError_t result) {
  const int driver = driver_version();
  switch (result) {
    case cudaErrorStubLibrary:
      return "only the toolkit's stub of libcuda was found; take its folder (stubs) out of the "
             "library path";
    case cudaErrorInsufficientDriver:
      if (driver == 0) return "no NVIDIA driver was found; install one, or take a CPU backend";
      return fmt::format("the NVIDIA driver is for CUDA {}, this build needs {}; update the driver",
                         version_text(driver), version_text(runtime_version()));
    case cudaErrorNoDevice:
      return "the NVIDIA driver sees no device; look at nvidia-smi and CUDA_VISIBLE_DEVICES";
    default:
      return fmt::format("cudaGetDeviceCount: {} ({}, {})", cudaGetErrorString(result),
                         cudaGetErrorName(result), static_cast<int>(result));
  }
}

std::string compute_capability() {
  return fmt::format("{}.{}", attribute(cudaDevAttrComputeCapabilityMajor),
                     attribute(cudaDevAttrComputeCapabilityMinor));
}

std::optional<std::string> why_too_old() {
  const std::array capability = {attribute(cudaDevAttrComputeCapabilityMajor),
                                 attribute(cudaDevAttrComputeCapabilityMinor)};
  if (capability >= std::array{kOldestMajor, kOldestMinor}) return std::nullopt;
  return fmt::format("device 0 has compute capability {}.{}, the kernels need {}.{} or newer",
                     capability[0], capability[1], kOldestMajor, kOldestMinor);
}

}  // namespace

std::optional<std::string> why_unavailable() {
  int count = 0;
  if (const cudaError_t result = cudaGetDeviceCount(&count); result != cudaSuccess) {
    forget(result);
    return why_no_count(result);
  }
  if (count == 0) return why_no_count(cudaErrorNoDevice);
  try {
    return why_too_old();
  } catch (const Error& error) {  // an error of the device is a reason, too
    return error.what();
  }
}

// NVIDIA's packages are named after the toolkit: libcublas-13-0.
std::string why_not_loaded(std::string_view loader_said, int toolkit) {
  return fmt::format(
      "cuBLASLt cannot be loaded: {}; install NVIDIA's package libcublas-{}-{}, or name the "
      "toolkit's lib64 in LD_LIBRARY_PATH",
      loader_said, toolkit / 1000, toolkit % 1000 / 10);
}

DeviceFacts device_facts() {
  cudaDeviceProp properties{};
  check_cuda(cudaGetDeviceProperties(&properties, 0), "cudaGetDeviceProperties of device 0");
  DeviceFacts facts{.name = properties.name, .details = {}};
  facts.details = {
      {"CUDA driver", version_text(driver_version())},
      {"CUDA runtime", version_text(runtime_version())},
      {"compute capability", compute_capability()},
      {"multiprocessors", fmt::format("{}", properties.multiProcessorCount)},
      {"device memory", fmt::format("{} bytes", properties.totalGlobalMem)},
      {"level 2 cache", fmt::format("{} bytes", properties.l2CacheSize)},
      {"memory bus", fmt::format("{} bits", properties.memoryBusWidth)},
      {"clock rate", fmt::format("{} MHz at most", attribute(cudaDevAttrClockRate) / 1000)},
      {"memory clock rate", fmt::format("{} MHz", attribute(cudaDevAttrMemoryClockRate) / 1000)}};
  return facts;
}

}  // namespace stepscope::cuda
