// Names of the ways of recording, as flags take them and records have them.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string_view>

#include "backends/api/stream.h"

namespace stepscope {

std::string_view name(RecordAs as);              // tape, capture, nodes
RecordAs record_as_from(std::string_view text);  // throws bad_input, with the nearest name

}  // namespace stepscope
