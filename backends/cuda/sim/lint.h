// lint: notes what CUDA lets pass and a test must not (control.h names the kinds).
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>

#include "backends/cuda/sim/control.h"

namespace stepscope::cudasim {

void note(Lint lint, std::string text);  // equal texts once

// Kernels by address, library calls by hash of their problem. note_use() outside captures,
// was_used() inside: a first use there is a lint.
void note_use(std::uint64_t what);
bool was_used(std::uint64_t what);

void error_handed_out(std::string text);
void error_collected();

void reset_lints();

}  // namespace stepscope::cudasim
