// Records that a user names: as a file, as the folder that a command wrote into, or on standard
// input.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <filesystem>
#include <string>

#include "bench/record/record.h"

namespace stepscope::cli {

inline constexpr const char* kRecordFile = "record.json";  // in a folder of --out
inline constexpr const char* kStandardInput = "-";

// The file that is read for `given`: record.json of a folder. Throws bad_input when a folder holds
// none, with those of its folders that do.
std::filesystem::path record_path(const std::string& given);

// Throws io when the file cannot be read, and bad_input, naming it, when it is no record of this
// schema or one that contradicts itself (bench/measure/validate.h).
Record read_record(const std::string& given);

}  // namespace stepscope::cli
