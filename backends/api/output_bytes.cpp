// Needs and type of an output, read.
// SPDX-License-Identifier: Apache-2.0
#include "backends/api/output_bytes.h"

#include "ops/ir/op_def.h"

namespace stepscope {

std::size_t output_bytes(const Kernel& kernel, std::size_t k) {
  const Needs& needs = kernel.needs();
  const bool saved = (op_def(kernel.site().kind).saved_outputs >> k & 1U) != 0;
  if (saved) return needs.saved;
  return needs.output_bytes.empty() ? kernel.site().out[k].bytes() : needs.output_bytes[k];
}

}  // namespace stepscope
