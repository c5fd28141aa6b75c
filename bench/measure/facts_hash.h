// Hash of a list of facts: of what decides the work, or how it was measured.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include "bench/record/record.h"

namespace stepscope {

// SHA-256 over names and values, in hexadecimal. Their order does not matter.
std::string hash_of(const Facts& facts);

}  // namespace stepscope
