// The forms of a document.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "bench/report/document.h"
#include "bench/report/picture.h"

namespace stepscope {

// One page that asks nobody for anything: styles and pictures are within, there is no script.
// Without gnuplot the tables stay and the page says so.
std::string html(const Document& document, const Gnuplot& gnuplot);

// GitHub's Markdown: the same sections and tables, in place of each picture its alt text.
std::string markdown(const Document& document);

// File name (pairs.csv) -> text by RFC 4180 with a line of headers: `key` or `key (unit)`.
// Numbers have all digits; an empty field is a value that is not there.
std::vector<std::pair<std::string, std::string>> csv(const Document& document);

// Of one table: for a terminal, and for the two above.
std::string terminal_text(const Table& table);
std::string markdown(const Table& table);
std::string csv(const Table& table);

}  // namespace stepscope
