// Parts of the page: tables, legends, words that tell a verdict.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "bench/report/document.h"
#include "bench/report/figure.h"
#include "bench/report/table.h"

namespace stepscope {

// With heading, the box that scrolls, notes, and what its columns mean.
std::string html_table(const Table& table);

// Whether a verdict stands in it, so that the marks of verdicts must be explained.
bool has_verdicts(const Table& table);

// What the marks of verdicts say: one line.
std::string html_verdict_marks();

// Samples of all series of a group, each once; empty where there is none.
std::string html_legend(const FigureGroup& group);

// Escaped, with verdicts (FASTER, SLOWER, SAME, UNDECIDED) set apart; not in "band of SAME".
std::string html_sentence(std::string_view text);

// A long sentence with each of its clauses on a line of its own: the words stay as they are. Those
// of a backend stand below what begins with its name ("on eigen, ...").
std::string html_clauses(std::string_view text);

// <ul class="notes">, empty for none.
std::string html_notes(const std::vector<std::string>& notes);

}  // namespace stepscope
