// probe: whether there is a device to compute on, asked before any library is, and what it is.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace stepscope::cuda {

// Why there is none: no driver, too old a driver, only the stub library, no device, another error.
// Nothing: device 0 can be used. Makes no call that needs a device before it knows.
std::optional<std::string> why_unavailable();

// Why the library of the products is not there, from what the loader said, with what to do;
// `toolkit` as CUDART_VERSION. Asks nobody.
std::string why_not_loaded(std::string_view loader_said, int toolkit);

struct DeviceFacts {
  std::string name;                                          // "NVIDIA H200"
  std::vector<std::pair<std::string, std::string>> details;  // in the order of records
};
// Requires: it is available. Throws device.
DeviceFacts device_facts();

}  // namespace stepscope::cuda
