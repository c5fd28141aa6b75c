// Runs: the records of a report, and tables whose rows say which of them they are of.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "bench/record/record.h"
#include "bench/report/arms.h"
#include "bench/report/table.h"

namespace stepscope {

// A view: the records must outlive it.
class Runs {
 public:
  Runs(const Record& record) : records_(&record, 1) {}             // NOLINT: one is some
  Runs(std::span<const Record> records) : records_(records) {}     // NOLINT
  Runs(const std::vector<Record>& records) : records_(records) {}  // NOLINT

  std::size_t size() const { return records_.size(); }
  bool several() const { return records_.size() > 1; }
  const Record& operator[](std::size_t run) const { return records_[run]; }
  auto begin() const { return records_.begin(); }
  auto end() const { return records_.end(); }

 private:
  std::span<const Record> records_;
};

// "2": as people count. Empty where there is but one.
std::string run_name(const Runs& runs, std::size_t run);

// A table of runs: begins with the columns run and model where there are several.
class RunTable {
 public:
  RunTable(const Runs& runs, std::string id, std::string title,
           const std::vector<std::string_view>& keys);

  void add(std::size_t run, std::vector<Cell> row);
  // The same row for several runs: "1, 3", or "all".
  void add(const std::vector<std::size_t>& of, std::vector<Cell> row);
  // A line below the table; of a run where there are several: "run 2: ...". Said once.
  void note(std::size_t run, std::string_view line);

  // Below times of those kinds: what they are of simulated arms.
  enum class Times { host, device, both };
  void note_simulated(std::size_t run, Times times);

  const std::string& id() const { return table_.id(); }
  Table take() { return std::move(table_); }
  bool empty() const { return table_.empty(); }

 private:
  Runs runs_;
  Table table_;
};

// Runs of one model, whose arms share figures.
struct ModelRuns {
  std::string model;
  std::vector<std::size_t> runs;
  // One line may lead through marks of all of them: same machine, work and protocol, and no arm
  // twice. Else each run has its own lines.
  bool joined = true;
};
std::vector<ModelRuns> by_model(const Runs& runs);

// A fact of the environment; empty where it is not known.
std::string fact_of(const Record& record, std::string_view name);
// Whether any pair is told by how far apart cores were.
bool has_strata(const Runs& runs);

// backend, batch, mode/fusion: the cells that rows of arms begin with.
std::vector<Cell> arm_cells(const ArmRecord& arm);
Cell batch_cell(std::int64_t batch);
Cell count_cell(std::int64_t count);
// "not measured" where there is none.
Cell time_cell(const std::optional<double>& ns);
Cell us_cell(const std::optional<double>& us);  // of microseconds; the value is in ns
Cell bytes_cell(double bytes);
Cell ratio_cell(const std::optional<double>& ratio);
Cell percent_cell(const std::optional<double>& share);  // 0.987 -> "98.7 %", 98.7

std::string arm_name(const ArmRecord& arm);  // graph/on

// [a-z0-9-]: of a name, for an id.
std::string slug(std::string_view name);

}  // namespace stepscope
