// Parts of sentences: what fusion took away and changed, and what each pass is worth.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

#include "bench/report/arms.h"

namespace stepscope {

// Of one backend, by rising batch. Each is empty where nothing was fused.

// "fusion removes 3 of 17 ops and 1.00 KiB of 4.00 KiB of intermediates (batch 32)": from the
// arms' counts, which no time decides.
std::string fusion_counts_clause(const Record& record, const std::vector<Group>& groups);

// The same with the times; of an ablation also which pass is worth most, where one could be told
// apart from all the others.
std::string fusion_clause(const Record& record, const std::vector<Group>& groups);

}  // namespace stepscope
