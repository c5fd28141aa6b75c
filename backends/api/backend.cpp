// What a backend does that says nothing else.
// SPDX-License-Identifier: Apache-2.0
#include "backends/api/backend.h"

#include "ops/base/check.h"

namespace stepscope {

void Backend::tune(std::span<const OpSite>, const std::string&) {
  fail(Fault::unsupported, "{}: has no choices to time", name());
}

}  // namespace stepscope
