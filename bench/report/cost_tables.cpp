// What a step costs beside its time: once, and in memory.
// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <set>

#include "bench/record/simulated.h"
#include "bench/report/numbers.h"
#include "bench/report/tables.h"

namespace stepscope {
namespace {

constexpr const char* kVoidBreakEven = "not known: void";  // as the analysis writes it

using OneOffTime = std::optional<std::int64_t> OneOffRecord::*;

// Median over the processes; "-" where the arm has no such phase.
Cell one_off_cell(const ArmRecord& arm, OneOffTime phase) {
  std::vector<double> times;
  for (const OneOffRecord& process : arm.one_off) {
    if (process.*phase) times.push_back(static_cast<double>(*(process.*phase)));
  }
  return times.empty() ? Cell("-") : time_cell(median_of(std::move(times)));
}

std::vector<Cell> one_off_row(const ArmRecord& arm) {
  std::vector<Cell> row = arm_cells(arm);
  for (const OneOffTime phase :
       {&OneOffRecord::init_ns, &OneOffRecord::compile_ns, &OneOffRecord::capture_ns,
        &OneOffRecord::instantiate_ns, &OneOffRecord::upload_ns, &OneOffRecord::first_step_ns,
        &OneOffRecord::warmup_ns}) {
    row.push_back(one_off_cell(arm, phase));
  }
  std::int64_t later = 0;
  for (const OneOffRecord& process : arm.one_off) later += process.compilations_in_steady;
  row.push_back(count_cell(later));
  return row;
}

// Pairs of a run that have an answer.
std::vector<PairView> break_evens_of(const Record& record) {
  std::vector<PairView> pairs;
  for (const PairView& view : pairs_of(record)) {
    if (view.pair->break_even && view.pair->kind == "arm") pairs.push_back(view);
  }
  return pairs;
}

// What no pair of any run can know is said once, in the title.
std::string common_answer(const Runs& runs) {
  std::set<std::string> texts;
  for (const Record& record : runs) {
    for (const PairView& view : break_evens_of(record)) {
      texts.insert(is_void(record) ? kVoidBreakEven : view.pair->break_even->text);
    }
  }
  return texts.size() == 1 && texts.begin()->starts_with("not known") ? *texts.begin() : "";
}

Cell paid_back_cell(const Record& record, const BreakEven& even, const std::string& common) {
  const std::string text = is_void(record) ? kVoidBreakEven : even.text;
  if (text == common) return "-";
  return even.steps && !is_void(record) ? Cell(text, *even.steps) : Cell(text);
}

Cell size_cell(std::uint64_t bytes) { return bytes_cell(static_cast<double>(bytes)); }

std::vector<Cell> window_row(const ArmRecord& arm, const char* name, const MemoryWindow& window) {
  std::vector<Cell> row = arm_cells(arm);
  row.emplace_back(name);
  for (const std::uint64_t bytes :
       {window.allocated, window.reserved, window.peak_allocated, window.peak_reserved}) {
    row.push_back(size_cell(bytes));
  }
  return row;
}

bool has_memory(const ArmRecord& arm) {
  return arm.memory.first.peak_reserved > 0 || arm.memory.steady.peak_reserved > 0;
}

std::string process_text(const ArmRecord& arm) {
  const auto bytes = [](const std::optional<std::uint64_t>& count) {
    return count ? bytes_text(static_cast<double>(*count)) : kNotMeasured;
  };
  return fmt::format("the whole process of {}, by the system: resident {}, at most {}",
                     labelled_backend(arm), bytes(arm.memory.process_rss),
                     bytes(arm.memory.process_peak_rss));
}

}  // namespace

Table one_off_table(const Runs& runs) {
  RunTable table(runs, "one-off", "paid once, medians over the processes; -: no such phase here",
                 {"backend", "batch", "arm", "init", "compile", "capture", "instantiate", "upload",
                  "first_step", "warm_up", "compiled_later"});
  for (std::size_t run = 0; run < runs.size(); ++run) {
    for (const auto& [key, group] : groups_of(runs[run])) {
      for (const ArmRecord* arm : group) {
        if (arm->one_off.empty()) continue;
        table.note_simulated(run, RunTable::Times::host);
        table.add(run, one_off_row(*arm));
      }
    }
  }
  return table.take();
}

Table break_even_table(const Runs& runs) {
  const std::string common = common_answer(runs);
  RunTable table(runs, "break-even",
                 fmt::format("when an arm's one-off costs are paid back{}{}",
                             common.empty() ? "" : ", ", common),
                 {"batch", "arm", "base", "extra", "paid_back"});
  for (std::size_t run = 0; run < runs.size(); ++run) {
    const Record& record = runs[run];
    for (const PairView& view : break_evens_of(record)) {
      const BreakEven& even = *view.pair->break_even;
      table.add(run, {batch_cell(view.of->batch), label_of(record, *view.of),
                      label_of(record, *view.base), us_cell(even.extra_us),
                      paid_back_cell(record, even, common)});
    }
  }
  return table.take();
}

Table memory_table(const Runs& runs) {
  RunTable table(runs, "memory-windows", "memory, at the largest batch of each backend",
                 {"backend", "batch", "arm", "when", "allocated", "reserved", "peak_allocated",
                  "peak_reserved"});
  for (std::size_t run = 0; run < runs.size(); ++run) {
    for (const Group& group : largest_groups_of(runs[run])) {
      for (const ArmRecord* arm : group) {
        if (!has_memory(*arm)) continue;
        table.add(run, window_row(*arm, "first step", arm->memory.first));
        table.add(run, window_row(*arm, "after warm-up", arm->memory.steady));
        table.note(run, process_text(*arm));
      }
    }
  }
  return table.take();
}

Table owners_table(const Runs& runs) {
  RunTable table(runs, "memory-owners", "memory by owner, at the largest batch of each backend",
                 {"backend", "batch", "arm", "owner", "layer", "reserved"});
  for (std::size_t run = 0; run < runs.size(); ++run) {
    for (const Group& group : largest_groups_of(runs[run])) {
      for (const ArmRecord* arm : group) {
        for (const MemoryOwner& owner : arm->memory.owners) {
          std::vector<Cell> row = arm_cells(*arm);
          for (Cell& cell :
               std::vector<Cell>{owner.owner, owner.layer, size_cell(owner.reserved)}) {
            row.push_back(std::move(cell));
          }
          table.add(run, std::move(row));
        }
      }
    }
  }
  return table.take();
}

}  // namespace stepscope
