// Rows of runs.
// SPDX-License-Identifier: Apache-2.0
#include "bench/report/runs.h"

#include <fmt/format.h>

#include <algorithm>
#include <set>

#include "bench/record/simulated.h"
#include "bench/report/columns.h"
#include "bench/report/numbers.h"

namespace stepscope {
namespace {

std::vector<Table::Column> run_columns(const Runs& runs,
                                       const std::vector<std::string_view>& keys) {
  std::vector<Table::Column> all = columns(keys);
  if (!runs.several()) return all;
  const std::vector<Table::Column> first = columns({"run", "model"});
  all.insert(all.begin(), first.begin(), first.end());
  return all;
}

// What must be equal for a line through the arms of two runs.
std::string ground_of(const Record& record) {
  const WorkFacts& work = record.work;
  return fmt::format("{}|{}|{}|{}|{}|{}|{}|{}", work.optimizer, work.rate, work.data, work.dtype,
                     work.seed, fact_of(record, "processor"), record.protocol_hash,
                     record.arms.empty() ? 0 : record.arms.front().threads);
}

// Runs without arms, such as those of training, have no line to share.
bool may_join(const Runs& runs, const std::vector<std::size_t>& list) {
  std::set<std::string> arms;
  std::set<std::string> grounds;
  for (const std::size_t run : list) {
    if (runs[run].arms.empty()) continue;
    if (grounds.insert(ground_of(runs[run])).second && grounds.size() > 1) return false;
    for (const ArmRecord& arm : runs[run].arms) {
      if (arm.role == "arm" && !arms.insert(arm.name).second) return false;
    }
  }
  return true;
}

}  // namespace

std::string run_name(const Runs& runs, std::size_t run) {
  return runs.several() ? fmt::to_string(run + 1) : "";
}

RunTable::RunTable(const Runs& runs, std::string id, std::string title,
                   const std::vector<std::string_view>& keys)
    : runs_(runs), table_(std::move(id), std::move(title), run_columns(runs, keys)) {}

void RunTable::add(std::size_t run, std::vector<Cell> row) {
  add(std::vector{run}, std::move(row));
}

void RunTable::add(const std::vector<std::size_t>& of, std::vector<Cell> row) {
  if (runs_.several()) {
    std::vector<std::string> names;
    std::set<std::string> models;
    for (const std::size_t run : of) {
      names.push_back(run_name(runs_, run));
      models.insert(runs_[run].work.model);
    }
    const bool all = of.size() == runs_.size();
    const Cell first[] = {all ? "all" : fmt::format("{}", fmt::join(names, ", ")),
                          models.size() == 1 ? *models.begin()
                          : all              ? "all"
                                             : "several"};
    row.insert(row.begin(), std::begin(first), std::end(first));
  }
  table_.add(std::move(row));
}

void RunTable::note_simulated(std::size_t run, Times times) {
  const std::vector<std::string> names = simulated_backends(runs_[run]);
  if (names.empty()) return;
  const std::string text =
      times == Times::both ? times_of_simulated(names)
                           : fmt::format("these times of {} are {}", fmt::join(names, " and "),
                                         times == Times::device ? kDeviceTimesAre : kHostTimesAre);
  note(run, fmt::format("{}: {}", kSimulated, text));
}

void RunTable::note(std::size_t run, std::string_view line) {
  std::string text =
      runs_.several() ? fmt::format("run {}: {}", run_name(runs_, run), line) : std::string(line);
  const auto& notes = table_.notes;
  if (std::find(notes.begin(), notes.end(), text) == notes.end()) {
    table_.notes.push_back(std::move(text));
  }
}

std::vector<ModelRuns> by_model(const Runs& runs) {
  std::vector<ModelRuns> models;
  for (std::size_t run = 0; run < runs.size(); ++run) {
    const std::string& model = runs[run].work.model;
    const auto at = std::find_if(models.begin(), models.end(),
                                 [&](const ModelRuns& each) { return each.model == model; });
    if (at == models.end()) {
      models.push_back({model, {run}, true});
    } else {
      at->runs.push_back(run);
    }
  }
  for (ModelRuns& model : models) model.joined = may_join(runs, model.runs);
  return models;
}

std::string fact_of(const Record& record, std::string_view name) {
  for (const Fact& fact : record.environment) {
    if (fact.name == name) return fact.value.value_or("");
  }
  return {};
}

bool has_strata(const Runs& runs) {
  for (const Record& record : runs) {
    for (const PairView& view : pairs_of(record)) {
      const std::vector<RatioRecord>& ratios = view.pair->ratios;
      if (std::any_of(ratios.begin(), ratios.end(),
                      [](const RatioRecord& ratio) { return !cores_of(ratio).empty(); })) {
        return true;
      }
    }
  }
  return false;
}

std::vector<Cell> arm_cells(const ArmRecord& arm) {
  return {labelled_backend(arm), batch_cell(arm.batch), arm_name(arm)};
}

Cell batch_cell(std::int64_t batch) { return count_cell(batch); }

Cell count_cell(std::int64_t count) { return {fmt::to_string(count), static_cast<double>(count)}; }

Cell time_cell(const std::optional<double>& ns) {
  return ns ? Cell(time_text(*ns), *ns) : Cell(kNotMeasured);
}

Cell us_cell(const std::optional<double>& us) {
  return us ? time_cell(1000.0 * *us) : Cell(kNotMeasured);
}

Cell bytes_cell(double bytes) { return {bytes_text(bytes), bytes}; }

Cell ratio_cell(const std::optional<double>& ratio) {
  return ratio ? Cell(ratio_text(*ratio), *ratio) : Cell(kNotMeasured);
}

Cell percent_cell(const std::optional<double>& share) {
  if (!share) return kNotMeasured;
  const double percent = 100.0 * *share;
  // What was measured is not shown as nothing.
  const bool tiny = percent > 0.0 && percent < 0.05;
  return {tiny ? "<0.1 %" : fmt::format("{:.1f} %", percent), percent};
}

std::string arm_name(const ArmRecord& arm) {
  return fmt::format("{}/{}", arm.mode_requested, arm.fusion);
}

std::string slug(std::string_view name) {
  std::string id;
  for (const char c : name) {
    const bool upper = c >= 'A' && c <= 'Z';
    const char small = upper ? static_cast<char>(c - 'A' + 'a') : c;
    const bool plain = (small >= 'a' && small <= 'z') || (small >= '0' && small <= '9');
    if (plain) {
      id += small;
    } else if (!id.empty() && id.back() != '-') {
      id += '-';
    }
  }
  while (!id.empty() && id.back() == '-') id.pop_back();
  return id.empty() ? "x" : id;
}

}  // namespace stepscope
