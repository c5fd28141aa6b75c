// What a backend does that says nothing else.
// SPDX-License-Identifier: Apache-2.0
#include "backends/api/backend.h"

#include "backends/api/host.h"
#include "ops/base/check.h"

namespace stepscope {

std::unique_ptr<Memory> Backend::allocate_host(std::size_t bytes) {
  return std::make_unique<HostMemory>(bytes);
}

void Backend::tune(std::span<const OpSite>, const std::string&) {
  fail(Fault::unsupported, "{}: has no choices to time", name());
}

}  // namespace stepscope
