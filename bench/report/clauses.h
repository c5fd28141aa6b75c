// Parts of sentences: what pairs of arms say at several batch sizes, and what all of it holds for.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "bench/report/arms.h"

namespace stepscope {

// "a", "a and b", "a, b and c".
std::string listed(const std::vector<std::string>& parts);

// One word for a pair: the verdict of its strata where they agree, else UNDECIDED. Empty without a
// ratio.
std::string verdict_of(const PairView& view);

// "at batch 1 FASTER, 0.900 of eager's 10.0 us (95 %: 0.890 .. 0.910); at batch 32 SAME, ...": the
// verdict of each pair with its ratio and what the base costs, or why there is none. `base`: whose
// time that is, as "eager's". More than two pairs are told by verdict, without interval and reason:
// "FASTER at batch 1 (0.900 of eager's 10.0 us) and 8 (...); UNDECIDED at batch 32 (...)".
std::string ratio_clauses(const std::vector<PairView>& views, std::string_view base);

// "; crossover batch: 32, it does not pay from there on", or "never", or "not known"; then all the
// batches that are UNDECIDED. Empty for a single batch, and where nothing has a verdict. Views: by
// rising batch.
std::string crossover_text(const std::vector<PairView>& views);

// The batch from which on it pays, or no longer does; nothing where that changes at none, or at
// several.
std::optional<std::int64_t> crossover_batch(const std::vector<PairView>& views);

}  // namespace stepscope
