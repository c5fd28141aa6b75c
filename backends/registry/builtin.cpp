// The backends of this build: the list that CMake wrote. A program has one list; what is linked
// with it is what the list names, so libraries take a Registry and only programs link this.
// SPDX-License-Identifier: Apache-2.0
#include "backends/registry/registry.h"

namespace stepscope {

#define STEPSCOPE_BACKEND(name, folder)                                 \
  namespace folder {                                                    \
  std::unique_ptr<Backend> make_backend(const BackendOptions& options); \
  }
#include "backends/registry/builtin.inc"
#undef STEPSCOPE_BACKEND

Registry Registry::builtin() {
  Registry registry;
#define STEPSCOPE_BACKEND(name, folder) registry.add({name, folder::make_backend});
#include "backends/registry/builtin.inc"
#undef STEPSCOPE_BACKEND
  return registry;
}

}  // namespace stepscope
