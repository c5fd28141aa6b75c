// Reading step files: the text of docs/step-files.md.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <string_view>

#include "ops/ir/step_file.h"

namespace stepscope {

// Limits of a text. Nothing is allocated ahead of what is there.
inline constexpr std::size_t kMaxStepText = std::size_t{16} << 20;  // bytes
inline constexpr std::size_t kMaxStepOps = 10'000;
inline constexpr std::size_t kMaxStepValues =
    20'000;                                      // declared, made and named; and as many views
inline constexpr std::size_t kMaxFactors = 16;   // of one expression
inline constexpr std::size_t kMaxSettings = 64;  // of one op

// Syntax, names, settings and their types; shapes are checked by instantiate(). `who` is the file,
// for messages. Throws bad_input: `WHO:LINE:COLUMN: what there is, expected what`.
StepFile parse_step(std::string_view text, std::string_view who);

}  // namespace stepscope
