// driver: what each call answers on the machines of control.h's Driver, measured on real ones where
// there was one.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>

#include "backends/cuda/sim/call.h"
#include "backends/cuda/sim/control.h"

namespace stepscope::cudasim {

inline constexpr int kRuntimeVersion = 13'000;
inline constexpr int kOldDriverVersion = 12'080;

// The status with which the call is refused there, cast to its library's type; nothing: it goes on.
std::optional<int> refused_by_driver(Driver driver, CallId id);
// What cudaDriverGetVersion tells; it succeeds on every machine.
int driver_version(Driver driver);

// STEPSCOPE_CUDASIM_DRIVER, for a process that never calls reset(); present if it is not set.
// Another value ends the process with one line and status 2.
Driver driver_of_environment();

}  // namespace stepscope::cudasim
