// What a record says before anything is timed: who asked for what, when, and on what it runs.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include "bench/record/record.h"

namespace stepscope {

// `version` of the program, `command` as given. A fresh experiment; environment with the distance
// of two cores. Nothing of it is looked up again later.
Record begin_record(const std::string& version, const std::string& command);

}  // namespace stepscope
