// A record as JSON and back. Field names are those of the structs; the schema name comes first.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "bench/record/record.h"

namespace stepscope {

std::string to_json(const Record& record);

// Throws bad_input, naming `source` and the place, when the text is no record of this schema.
Record record_from_json(std::string_view text, std::string_view source);

// Epochs alone, as a checkpoint keeps them: every number comes back as it was. Throws bad_input,
// naming `source`.
std::string to_json(const std::vector<EpochRecord>& epochs);
std::vector<EpochRecord> epochs_from_json(std::string_view text, std::string_view source);

}  // namespace stepscope
