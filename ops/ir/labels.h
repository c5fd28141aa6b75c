// What a label may be: a class, or -1 for a row that is left out of the loss.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

namespace stepscope {

// The row adds nothing to the loss, gets a gradient of zero, and is never counted as correct.
inline constexpr std::int32_t kLeftOut = -1;

// Any negative label, so that no kernel reads in front of a row; a session accepts kLeftOut alone.
constexpr bool left_out(std::int32_t label) { return label < 0; }

}  // namespace stepscope
