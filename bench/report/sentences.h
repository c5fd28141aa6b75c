// What a comparison says in plain words.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include "bench/record/record.h"

namespace stepscope {

// At most five, a line each: what dispatch costs, what graph and fusion change, and what the
// numbers cannot tell.
std::string sentences(const Record& record);

}  // namespace stepscope
