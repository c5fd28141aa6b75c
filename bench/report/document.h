// Document: a report as data, made from records alone. Rendered as HTML, Markdown and CSV
// (bench/report/renderers.h); the terminal's text is made from the same tables
// (bench/report/text.h).
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <span>
#include <string>
#include <vector>

#include "bench/record/record.h"
#include "bench/report/figure.h"
#include "bench/report/table.h"

namespace stepscope {

// Figures that share one legend and stand side by side where there is room.
struct FigureGroup {
  std::string id;     // [a-z0-9-]+
  std::string title;  // "Time per step against batch size"
  std::string how;    // one line on how to read it; says what bands or bars are
  std::vector<Figure> figures;
};

struct Section {
  std::string id;                 // [a-z0-9-]+, unique
  std::string title;              // "Is the difference real?"
  std::vector<std::string> text;  // paragraphs before the figures
  std::vector<FigureGroup> figures;
  std::vector<Table> tables;       // none is empty
  std::vector<std::string> notes;  // behind the tables
};

struct Document {
  std::string title;
  // Of each record a line that says what it is (model, machine, status), then its sentences.
  struct Summary {
    std::string about;
    std::string status;  // complete, void, ...; with its reason where there is one
    std::vector<std::string> sentences;
  };
  std::vector<Summary> summaries;
  std::vector<Section> sections;
};

// One report of all records. Records of one model share figures; each table says which record a row
// is of when there is more than one. Records must be in order (bench/measure/validate.h).
Document document_of(std::span<const Record> records);

}  // namespace stepscope
