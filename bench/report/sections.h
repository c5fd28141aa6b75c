// The sections of a report, one function each, in the order in which they are read. Each is always
// there: where the records have nothing for it, its text says "not measured" and why.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <string_view>

#include "bench/report/document.h"
#include "bench/report/runs.h"

namespace stepscope {

Section verdicts_section(const Runs& runs);
Section time_section(const Runs& runs);
Section ratio_section(const Runs& runs);
Section where_section(const Runs& runs);
Section counts_section(const Runs& runs);
Section fusion_section(const Runs& runs);
Section once_section(const Runs& runs);
Section memory_section(const Runs& runs);
Section roofline_section(const Runs& runs);
Section instrument_section(const Runs& runs);
Section environment_section(const Runs& runs);

// What they are made with.

// Figures and tables are left out when they are empty.
void add(Section& section, FigureGroup group);
void add(Section& section, Table table);
// An empty one becomes a note: "WHAT: not measured (WHY)".
void add_or_note(Section& section, Table table, std::string_view what, std::string_view why);
// "run 2: " before a line of that run, where there are several.
std::string of_run(const Runs& runs, std::size_t run, std::string_view line);
// Says "not measured: WHY" in a section without figures and tables.
Section finished(Section section, const Runs& runs, std::string_view why);

}  // namespace stepscope
