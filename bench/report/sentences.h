// What a run says in plain words: what it came for, in at most five sentences.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

#include "bench/record/record.h"

namespace stepscope {

inline constexpr std::size_t kMostSentences = 5;

// From a record that was analyzed (bench/compare/analysis.h); reads no raw list. In this order, as
// far as the record has it: what dispatch costs, and its share of a step at each batch; what graph
// removes and changes, the batch where it stops paying, the steps that pay back its one-off costs;
// what fusion removes and changes; backend against backend, or the pass that is worth most; and
// last what all of it holds for. A run without a ratio says why in place of all but the last; a
// void one also what time does not decide. No line breaks within.
std::vector<std::string> sentences(const Record& record);

// The last of them: model, data, libraries, machine, processes. Every result holds for these alone.
std::string scope_sentence(const Record& record);

}  // namespace stepscope
