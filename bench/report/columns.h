// The one home of what columns are called, mean and count in: "batch", "median" and their like are
// said here and nowhere else.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string_view>
#include <vector>

#include "bench/report/table.h"

namespace stepscope {

// Throws bad_input for a key that is not here.
Table::Column column(std::string_view key);
std::vector<Table::Column> columns(const std::vector<std::string_view>& keys);

// All of them, in the order in which they are written down.
std::vector<std::string_view> column_keys();

}  // namespace stepscope
