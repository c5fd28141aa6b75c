// Signature: the kernels that were made known, by address.
// SPDX-License-Identifier: Apache-2.0
#include "backends/cuda/sim/signature.h"

#include <mutex>
#include <unordered_map>

namespace stepscope::cudasim {
namespace {

// A launch makes its kernel known before it enters the simulator, so without the simulator's lock.
struct Known {
  std::mutex mutex;
  std::unordered_map<const void*, const Signature*> kernels;
};
Known& known() {
  static Known& known = *new Known;
  return known;
}

}  // namespace

void register_kernel(const void* function, const Signature& signature) {
  const std::lock_guard lock(known().mutex);
  known().kernels.insert_or_assign(function, &signature);
}

const Signature* signature_of(const void* function) {
  const std::lock_guard lock(known().mutex);
  const auto found = known().kernels.find(function);
  return found == known().kernels.end() ? nullptr : found->second;
}

}  // namespace stepscope::cudasim
