// --tune FILE: choices of the library, timed once and kept in a file.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <span>
#include <string>
#include <vector>

#include "bench/cli/options.h"
#include "ops/ir/graph.h"

namespace stepscope::cli {

// Where --tune names a file that is not there yet: has each backend in turn time its choices for
// the ops of these steps, as described, in all fusions asked for, until one has written the file;
// says so on standard error. Throws unsupported when no backend has choices.
void make_choices(const Options& options, const Registry& registry, std::span<const Graph> steps);

// The file for BackendOptions: empty without --tune. Requires: make_choices ran before.
std::string choices_file(const Options& options);
// SHA-256 of its bytes, for the work hash; empty without --tune.
std::string choices_digest(const Options& options);

}  // namespace stepscope::cli
