// The date of what is written. It may be set back at any time: no duration is made of it.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

namespace stepscope {

// UTC, ISO 8601, to the second: 2026-11-30T12:00:00Z
std::string utc_now();

}  // namespace stepscope
