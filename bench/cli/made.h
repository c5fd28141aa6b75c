// Backends as the flags ask for them, or why not: before any work, and in the same words in every
// command.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>
#include <string>

#include "bench/cli/options.h"

namespace stepscope::cli {

// Throws unsupported, naming the backend, for a choice of --record, --tf32 or --input-copy that it
// does not have, in every mode: none is passed over in silence. And whatever Registry::make throws.
std::unique_ptr<Backend> make_backend(const Options& options, const Registry& registry,
                                      const std::string& name);

// The same for all of --backend, each made to find out and let go; makes none where the flags
// choose nothing that a backend may lack.
void check_backends(const Options& options, const Registry& registry);

}  // namespace stepscope::cli
