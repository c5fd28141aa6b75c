// What the instrument costs, that the work was equal, and on what all of it ran.
// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <algorithm>
#include <tuple>

#include "bench/record/simulated.h"
#include "bench/report/numbers.h"
#include "bench/report/tables.h"

namespace stepscope {
namespace {

std::vector<Cell> calibration_cells(const CalibrationRow& row) {
  const bool spread = row.value && row.low && row.high;
  return {row.name, row.value ? Cell(digits_text(*row.value), *row.value) : Cell(kNotMeasured),
          spread ? Cell(fmt::format("{} .. {}", digits_text(*row.low), digits_text(*row.high)),
                        *row.low, *row.high)
                 : Cell(),
          row.unit, row.value ? row.note : row.reason};
}

// Gates of one kind, over all processes.
struct GateKind {
  const GateRecord* first = nullptr;
  std::int64_t passed = 0, all = 0;
  std::string detail;  // of the first that failed
};

bool same_kind(const GateRecord& a, const GateRecord& b) {
  const auto key = [](const GateRecord& gate) {
    return std::tie(gate.when, gate.backend, gate.batch, gate.mode, gate.fusion, gate.baseline_mode,
                    gate.baseline_fusion, gate.criterion);
  };
  return key(a) == key(b);
}

std::vector<GateKind> kinds_of(const std::vector<GateRecord>& gates) {
  std::vector<GateKind> kinds;
  for (const GateRecord& gate : gates) {
    auto at = std::find_if(kinds.begin(), kinds.end(),
                           [&](const GateKind& kind) { return same_kind(*kind.first, gate); });
    if (at == kinds.end()) at = kinds.insert(kinds.end(), GateKind{&gate, 0, 0, ""});
    ++at->all;
    if (gate.passed) {
      ++at->passed;
    } else if (at->detail.empty()) {
      at->detail = fmt::format("process {}: {}", gate.process, gate.detail);
    }
  }
  return kinds;
}

// A fact and the runs in which it reads so.
struct SharedFact {
  std::vector<Cell> row;
  std::vector<std::size_t> runs;
};

void share(std::vector<SharedFact>& facts, std::size_t run, std::vector<Cell> row) {
  const auto texts_equal = [&](const SharedFact& fact) {
    return std::equal(row.begin(), row.end(), fact.row.begin(), fact.row.end(),
                      [](const Cell& a, const Cell& b) { return a.text == b.text; });
  };
  const auto at = std::find_if(facts.begin(), facts.end(), texts_equal);
  if (at == facts.end()) {
    facts.push_back({std::move(row), {run}});
  } else if (at->runs.back() != run) {
    at->runs.push_back(run);
  }
}

// Facts of one name beside each other, in the order of the first run.
Table take(RunTable table, std::vector<SharedFact> facts, std::size_t names) {
  for (std::size_t i = 0; i < facts.size(); ++i) {
    if (facts[i].runs.empty()) continue;  // was told
    for (std::size_t j = i; j < facts.size(); ++j) {
      const bool alike = std::equal(
          facts[i].row.begin(), facts[i].row.begin() + static_cast<std::ptrdiff_t>(names),
          facts[j].row.begin(), [](const Cell& a, const Cell& b) { return a.text == b.text; });
      if (j != i && (!alike || facts[j].runs.empty())) continue;
      table.add(facts[j].runs, facts[j].row);
      if (j != i) facts[j].runs.clear();
    }
  }
  return table.take();
}

constexpr std::string_view kGpu = "gpu_";

// Why nothing is known of a device, where all facts of it say the same; else empty.
std::string no_device(const Record& record) {
  std::string reason;
  for (const Fact& fact : record.environment) {
    if (!fact.name.starts_with(kGpu)) continue;
    if (fact.value || (!reason.empty() && reason != fact.reason)) return {};
    reason = fact.reason;
  }
  return reason;
}

std::string text_of(const Fact& fact) {
  return fact.value ? *fact.value : fmt::format("not available: {}", fact.reason);
}

}  // namespace

Table calibration_table(const Runs& runs) {
  RunTable table(runs, "calibration",
                 "what the instrument and the machine cost; nothing is subtracted",
                 {"calibration", "measured_value", "spread", "row_unit", "note"});
  for (std::size_t run = 0; run < runs.size(); ++run) {
    for (const CalibrationRow& row : runs[run].calibration) table.add(run, calibration_cells(row));
  }
  return table.take();
}

Table gates_table(const Runs& runs) {
  RunTable table(
      runs, "gates", "that the work was equal: losses and parameters after some steps",
      {"gate_when", "backend", "batch", "arm", "base", "passed", "gates", "criterion", "detail"});
  for (std::size_t run = 0; run < runs.size(); ++run) {
    for (const GateKind& kind : kinds_of(runs[run].gates)) {
      const GateRecord& gate = *kind.first;
      table.add(run, {gate.when, labelled_in(runs[run], gate.backend), batch_cell(gate.batch),
                      fmt::format("{}/{}", gate.mode, gate.fusion),
                      fmt::format("{}/{}", gate.baseline_mode, gate.baseline_fusion),
                      count_cell(kind.passed), count_cell(kind.all), gate.criterion, kind.detail});
    }
  }
  return table.take();
}

Table environment_table(const Runs& runs) {
  RunTable table(runs, "environment-facts", "machine, system and build", {"fact", "value"});
  std::vector<SharedFact> facts;
  for (std::size_t run = 0; run < runs.size(); ++run) {
    const std::string none = no_device(runs[run]);
    bool told = false;
    for (const Fact& fact : runs[run].environment) {
      if (!none.empty() && fact.name.starts_with(kGpu)) {
        if (!told) share(facts, run, {"gpu_...", fmt::format("not available: {}", none)});
        told = true;
        continue;
      }
      share(facts, run, {fact.name, text_of(fact)});
    }
  }
  return take(std::move(table), std::move(facts), 1);
}

Table backends_table(const Runs& runs) {
  RunTable table(runs, "backends", "the backends and their libraries",
                 {"backend", "fact", "value"});
  std::vector<SharedFact> facts;
  for (std::size_t run = 0; run < runs.size(); ++run) {
    for (const auto& [backend, details] : runs[run].backends) {
      for (const auto& [name, value] : details)
        share(facts, run, {labelled_in(runs[run], backend), name, value});
    }
  }
  return take(std::move(table), std::move(facts), 2);
}

Table protocol_table(const Runs& runs) {
  RunTable table(runs, "protocol", "how it was measured", {"fact", "value"});
  std::vector<SharedFact> facts;
  for (std::size_t run = 0; run < runs.size(); ++run) {
    for (const auto& [name, value] : runs[run].protocol) share(facts, run, {name, value});
  }
  return take(std::move(table), std::move(facts), 1);
}

}  // namespace stepscope
