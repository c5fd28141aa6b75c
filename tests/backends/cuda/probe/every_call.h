// Every call that the simulator has, made on a machine where it cannot work: without a driver, with
// a stub of one, without a device. The real libraries' answers there are the only ones that can be
// had without a GPU, so they are compared for each call.
//
// Refuses to run where there is a device: the handles are null, which a working driver need not
// survive.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <span>
#include <string_view>

#include "tests/backends/cuda/probe/status.h"

namespace stepscope::probe {

struct Entry {
  std::string_view call;
  Status (*make)();
};

std::span<const Entry> runtime_calls();  // device, memory, streams, events, launches
std::span<const Entry> graph_calls();    // captures and graphs
std::span<const Entry> library_calls();  // cuBLASLt, cuDNN, CUPTI

}  // namespace stepscope::probe
