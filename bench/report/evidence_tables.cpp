// What stands behind verdicts: bands, reasons, voids, flags, crossovers.
// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <set>
#include <tuple>

#include "bench/report/clauses.h"
#include "bench/report/numbers.h"
#include "bench/report/questions.h"
#include "bench/report/tables.h"

namespace stepscope {
namespace {

// "order-effect: an outer slot ..." -> name and what it says.
std::pair<std::string, std::string> split(const std::string& flag) {
  const std::size_t at = flag.find(':');
  if (at == std::string::npos) return {flag, ""};
  const std::size_t says = flag.find_first_not_of(' ', at + 1);
  return {flag.substr(0, at), says == std::string::npos ? "" : flag.substr(says)};
}

void add_flags(RunTable& table, std::size_t run, const std::string& subject,
               const std::vector<std::string>& flags) {
  for (const std::string& flag : flags) {
    auto [name, says] = split(flag);
    table.add(run, {subject, std::move(name), std::move(says)});
  }
}

// A reason is prose about one pair: "crossover batch: 32, ..." without what announces it.
std::string crossover_of(const std::vector<PairView>& views) {
  constexpr std::string_view kAnnounced = "; crossover batch: ";
  const std::string text = crossover_text(views);
  return text.starts_with(kAnnounced) ? text.substr(kAnnounced.size()) : text;
}

}  // namespace

Table band_table(const Runs& runs) {
  RunTable table(runs, "bands", "what this run calls SAME", {"backend", "batch", "cores", "band"});
  for (std::size_t run = 0; run < runs.size(); ++run) {
    std::set<std::tuple<std::string, std::int64_t, std::string, double>> said;
    for (const PairView& view : pairs_of(runs[run])) {
      if (view.pair->kind != "arm" || view.crosses_backends() || is_void(runs[run])) continue;
      for (const RatioRecord& ratio : view.pair->ratios) {
        if (!ratio.delta) continue;
        if (!said.insert({view.of->backend, view.of->batch, ratio.stratum, *ratio.delta}).second) {
          continue;
        }
        const double high = 1.0 + *ratio.delta;
        table.add(run, {view.of->backend, batch_cell(view.of->batch), ratio.stratum,
                        Cell(range_text({1.0, 1.0 / high, high}), 1.0 / high, high)});
      }
    }
  }
  return table.take();
}

// What voids a run says nothing of one pair: it is not said here.
Table undecided_table(const Runs& runs) {
  RunTable table(runs, "undecided", "pairs without a decision",
                 {"batch", "arm", "base", "verdict", "reason"});
  for (std::size_t run = 0; run < runs.size(); ++run) {
    const Record& record = runs[run];
    if (is_void(record)) continue;
    for (const PairView& view : pairs_of(record)) {
      if (view.pair->kind != "arm") continue;
      for (const RatioRecord& ratio : view.pair->ratios) {
        if (ratio.verdict_reason.empty() || !ratio.time_ratio) continue;
        if (ratio.verdict != "UNDECIDED" && ratio.verdict != "void") continue;
        table.add(run, {batch_cell(view.of->batch), label_of(record, *view.of),
                        label_of(record, *view.base), ratio.verdict, ratio.verdict_reason});
      }
    }
  }
  return table.take();
}

// By cause without its numbers: they stay in the record.
Table voids_table(const Runs& runs) {
  RunTable table(runs, "voids", "blocks voided, and kept in the record",
                 {"cause", "voided", "blocks"});
  for (std::size_t run = 0; run < runs.size(); ++run) {
    std::map<std::string, std::int64_t> causes;
    std::int64_t blocks = 0;
    for (const PairRecord& pair : runs[run].pairs) {
      for (const ProcessBlocks& process : pair.processes) {
        for (const TimedBlock& block : process.blocks) {
          ++blocks;
          if (!block.void_cause.empty()) ++causes[split(block.void_cause).first];
        }
      }
    }
    for (const auto& [cause, count] : causes) {
      table.add(run, {cause, count_cell(count), count_cell(blocks)});
    }
    if (blocks > 0 && causes.empty()) {
      table.add(run, {"none", count_cell(0), count_cell(blocks)});
    }
  }
  return table.take();
}

Table flags_table(const Runs& runs) {
  RunTable table(runs, "flags", "flags: they warn and change no number",
                 {"subject", "flag", "reason"});
  for (std::size_t run = 0; run < runs.size(); ++run) {
    for (const ArmRecord& arm : runs[run].arms) add_flags(table, run, arm.name, arm.flags);
    for (const PairRecord& pair : runs[run].pairs) {
      for (const RatioRecord& ratio : pair.ratios) {
        add_flags(table, run, fmt::format("{} over {}", pair.of, pair.base), ratio.flags);
      }
    }
  }
  return table.take();
}

Table crossover_table(const Runs& runs) {
  RunTable table(runs, "crossovers", "where an arm stops paying, or begins to",
                 {"backend", "arm", "base", "crossover"});
  for (const ModelRuns& model : by_model(runs)) {
    for (const Question& question : questions_of(runs, model)) {
      if (question.views.size() < 2 || question.crosses) continue;
      const std::string crossover = crossover_of(question.views);
      if (crossover.empty()) continue;
      table.add(question.runs, {question.backend, arm_name(*question.views.front().of),
                                arm_name(*question.views.front().base), crossover});
    }
  }
  return table.take();
}

}  // namespace stepscope
