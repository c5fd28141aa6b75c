// Facts of an NVIDIA device, from NVML: the library is looked for when it is asked, so that a build
// needs nothing of it. No serial number, no UUID: they name the machine.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

#include "bench/record/samples.h"

namespace stepscope {

inline constexpr const char* kNvmlLibrary = "libnvidia-ml.so.1";

// Always the same names, in the same order: gpu_count, then of the first device its name and what
// it is, then how it is at this moment (clocks, power, temperature, throttle reasons, other
// processes). Without the library, a driver or a device each fact says why. Takes milliseconds: not
// to be called within a timed interval.
std::vector<Fact> gpu_facts(const std::string& library = kNvmlLibrary);

}  // namespace stepscope
