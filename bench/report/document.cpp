// A document from records: summaries, then eleven sections.
// SPDX-License-Identifier: Apache-2.0
#include "bench/report/document.h"

#include <fmt/format.h>

#include <algorithm>
#include <set>

#include "bench/record/simulated.h"
#include "bench/report/numbers.h"
#include "bench/report/sections.h"
#include "bench/report/statements.h"

namespace stepscope {
namespace {

std::string title_of(const Runs& runs) {
  const std::vector<ModelRuns> models = by_model(runs);
  if (runs.size() == 0) return "stepscope: no record";
  if (models.size() == 1) {
    return runs.several() ? fmt::format("stepscope: {}, {} runs", models[0].model, runs.size())
                          : fmt::format("stepscope: {}", models[0].model);
  }
  std::vector<std::string> names;
  for (const ModelRuns& model : models) names.push_back(model.model);
  return fmt::format("stepscope: {}", fmt::join(names, ", "));
}

std::string about(const Runs& runs, std::size_t run) {
  const Record& record = runs[run];
  std::string line = work_line(record);
  const std::string processor = fact_of(record, "processor");
  if (!processor.empty()) line += fmt::format(", on {}", processor);
  const std::vector<std::string> modelled = simulated_backends(record);
  if (!modelled.empty()) line += fmt::format(", {}: {}", kSimulated, fmt::join(modelled, ", "));
  if (!record.created.empty()) line += fmt::format(", {}", record.created);
  return of_run(runs, run, line);
}

// Groups and figures take their ids from names in records: two of them may agree.
void make_unique(Document& document) {
  std::set<std::string> taken;
  for (const Section& section : document.sections) {
    taken.insert(section.id);
    for (const Table& table : section.tables) taken.insert(table.id());
  }
  const auto rename = [&](std::string& id) {
    const std::string first = id;
    for (int n = 2; !taken.insert(id).second; ++n) id = fmt::format("{}-{}", first, n);
  };
  for (Section& section : document.sections) {
    for (FigureGroup& group : section.figures) {
      rename(group.id);
      for (Figure& figure : group.figures) rename(figure.id);
    }
  }
}

bool all_of(const Runs& runs, bool (*holds)(const Record&)) {
  return runs.size() > 0 && std::all_of(runs.begin(), runs.end(), holds);
}

bool only_trained(const Record& record) {
  return !record.epochs.empty() &&
         std::none_of(record.arms.begin(), record.arms.end(), is_measured);
}

}  // namespace

Document document_of(std::span<const Record> records) {
  const Runs runs(records);
  Document document;
  document.title = title_of(runs);
  for (std::size_t run = 0; run < runs.size(); ++run) {
    document.summaries.push_back({about(runs, run), status_line(runs[run]), summary_of(runs[run])});
  }
  for (const auto section : {verdicts_section, time_section, ratio_section, where_section,
                             counts_section, fusion_section, once_section, memory_section,
                             roofline_section, instrument_section, environment_section}) {
    document.sections.push_back(section(runs));
  }
  make_unique(document);
  return document;
}

void add(Section& section, FigureGroup group) {
  if (!group.figures.empty()) section.figures.push_back(std::move(group));
}

void add(Section& section, Table table) {
  if (!table.empty()) section.tables.push_back(std::move(table));
}

void add_or_note(Section& section, Table table, std::string_view what, std::string_view why) {
  if (table.empty()) {
    section.notes.push_back(fmt::format("{}: {} ({})", what, kNotMeasured, why));
  } else {
    section.tables.push_back(std::move(table));
  }
}

std::string of_run(const Runs& runs, std::size_t run, std::string_view line) {
  return runs.several() ? fmt::format("run {}: {}", run_name(runs, run), line) : std::string(line);
}

Section finished(Section section, const Runs& runs, std::string_view why) {
  if (!section.figures.empty() || !section.tables.empty()) return section;
  if (all_of(runs, [](const Record& record) { return record.status == "not-run"; })) {
    why = "nothing was run";
  } else if (all_of(runs, only_trained)) {
    why = "this is a record of training, which times epochs; stepscope compare times steps";
  }
  section.text.insert(section.text.begin(), fmt::format("{}: {}", kNotMeasured, why));
  section.notes.clear();  // each said what is missing; now all is
  return section;
}

}  // namespace stepscope
