// Verdicts as parts of sentences, and the sentence of what they hold for.
// SPDX-License-Identifier: Apache-2.0
#include "bench/report/clauses.h"

#include <fmt/format.h>

#include <algorithm>

#include "bench/record/simulated.h"
#include "bench/report/numbers.h"
#include "bench/report/runs.h"
#include "bench/report/sentences.h"

namespace stepscope {
namespace {

constexpr std::size_t kMostWords = 2;  // pairs of one sentence and backend told in full

bool is_decided(std::string_view verdict) {
  return verdict == "FASTER" || verdict == "SLOWER" || verdict == "SAME";
}

bool has_cores(const RatioRecord& ratio) {
  return !ratio.stratum.empty() && ratio.stratum != "single";
}

std::string place_of(const PairView& view, const RatioRecord& ratio) {
  return fmt::format("at batch {}{}", view.of->batch,
                     has_cores(ratio) ? fmt::format(", cores {},", ratio.stratum) : "");
}

std::string spread_text(const RatioRecord& ratio) {
  const std::string interval = range_text(*ratio.time_ratio);
  if (!interval.empty()) return fmt::format(" (95 %: {})", interval);
  if (!ratio.q1 || !ratio.q3) return {};
  return fmt::format(" (half of the blocks: {} .. {})", ratio_text(*ratio.q1),
                     ratio_text(*ratio.q3));
}

// A ratio without what the base costs is not told.
std::string ratio_clause(const PairView& view, const RatioRecord& ratio, std::string_view base) {
  const std::string place = place_of(view, ratio);
  if (!ratio.time_ratio || !ratio.base_us) {
    return fmt::format("{} no ratio: {}", place,
                       ratio.reason.empty() ? kNotMeasured : ratio.reason);
  }
  if (ratio.verdict == "void") return fmt::format("{} void: {}", place, ratio.verdict_reason);
  const bool why =
      !is_decided(ratio.verdict) && ratio.verdict != "exploratory" && !ratio.verdict_reason.empty();
  return fmt::format("{} {}, {} of {} {}{}{}", place, ratio.verdict,
                     ratio_text(ratio.time_ratio->estimate), base, us_text(ratio.base_us),
                     spread_text(ratio), why ? fmt::format(", {}", ratio.verdict_reason) : "");
}

// 8 (0.957 of eager's 875 us); of what is void the batch alone.
std::string short_clause(const PairView& view, const RatioRecord& ratio, std::string_view base) {
  const std::string place = fmt::format(
      "{}{}", view.of->batch, has_cores(ratio) ? fmt::format(" with {} cores", ratio.stratum) : "");
  if (!ratio.time_ratio || !ratio.base_us || ratio.verdict == "void") return place;
  return fmt::format("{} ({} of {} {})", place, ratio_text(ratio.time_ratio->estimate), base,
                     us_text(ratio.base_us));
}

// "FASTER at batch 1 (...) and 8 (...); UNDECIDED at batch 32 (...)": intervals and reasons stand
// in the tables.
std::string clauses_by_verdict(const std::vector<PairView>& views, std::string_view base) {
  std::vector<std::pair<std::string, std::vector<std::string>>> verdicts;
  const auto add = [&](const std::string& verdict, std::string clause) {
    auto at = std::find_if(verdicts.begin(), verdicts.end(),
                           [&](const auto& known) { return known.first == verdict; });
    if (at == verdicts.end()) at = verdicts.insert(at, {verdict, {}});
    at->second.push_back(std::move(clause));
  };
  for (const PairView& view : views) {
    if (view.pair->ratios.empty()) add("no ratio", fmt::to_string(view.of->batch));
    for (const RatioRecord& ratio : view.pair->ratios) {
      const bool none = !ratio.time_ratio || !ratio.base_us;
      add(none ? "no ratio" : ratio.verdict, short_clause(view, ratio, base));
    }
  }
  std::vector<std::string> parts;
  for (const auto& [verdict, clauses] : verdicts) {
    parts.push_back(fmt::format("{} at batch {}", verdict, listed(clauses)));
  }
  return fmt::format("{}", fmt::join(parts, "; "));
}

struct Pays {
  std::int64_t batch = 0;
  std::string verdict;
  bool yes() const { return verdict == "FASTER"; }
};

// How often it begins or ends to pay, and where last.
struct Changes {
  std::size_t count = 0, at = 0;
};

Changes changes_of(const std::vector<Pays>& known) {
  Changes changes;
  for (std::size_t i = 1; i < known.size(); ++i) {
    if (known[i].yes() == known[i - 1].yes()) continue;
    ++changes.count;
    changes.at = i;
  }
  return changes;
}

// The views that are decided, and the batches of the others: UNDECIDED, void, without a ratio.
struct Decided {
  std::vector<Pays> known;
  std::vector<std::int64_t> open;
  bool all_undecided = true;  // of `open`

  // Whether a batch between these two is open.
  bool is_open(std::int64_t low, std::int64_t high) const {
    return std::any_of(open.begin(), open.end(),
                       [&](std::int64_t batch) { return low < batch && batch < high; });
  }
  std::string open_text() const {
    return fmt::format("{} at {}", all_undecided ? "UNDECIDED" : "no verdict",
                       fmt::join(open, ", "));
  }
};

Decided decided(const std::vector<PairView>& views) {
  Decided result;
  for (const PairView& view : views) {
    const std::string verdict = verdict_of(view);
    if (is_decided(verdict)) {
      result.known.push_back({view.of->batch, verdict});
    } else {
      result.open.push_back(view.of->batch);
      result.all_undecided = result.all_undecided && verdict == "UNDECIDED";
    }
  }
  return result;
}

std::string change_text(const Decided& all) {
  const std::vector<Pays>& known = all.known;
  const auto [changes, at] = changes_of(known);
  if (changes > 1) return "not one: it pays at some batches and not at others, in no order";
  if (changes == 0) {
    if (!all.open.empty()) return fmt::format("not known, {}", all.open_text());
    return known.front().yes() ? "never, it pays at every batch measured"
                               : "never, it pays at no batch measured";
  }
  const std::string_view then = known[at].yes() ? "it pays" : "it does not pay";
  if (all.is_open(known[at - 1].batch, known[at].batch)) {
    return fmt::format("above {}, and {} from {} on", known[at - 1].batch, then, known[at].batch);
  }
  return fmt::format("{}, {} from there on", known[at].batch, then);
}

// eigen 3.4.0, onednn v2.6.0; a backend without a library is its name.
std::string backends_text(const Record& record) {
  const std::vector<std::string> modelled = simulated_backends(record);
  std::vector<std::string> names;
  for (const auto& [backend, facts] : record.backends) {
    const auto library = std::find_if(facts.begin(), facts.end(),
                                      [&](const auto& entry) { return entry.first == backend; });
    const std::string known =
        library == facts.end() ? backend : fmt::format("{} {}", backend, library->second);
    const bool simulated = std::find(modelled.begin(), modelled.end(), backend) != modelled.end();
    names.push_back(simulated ? fmt::format("{} ({}: {})", known, kSimulated, kNoTimeOfGpu)
                              : known);
  }
  return fmt::format("{}", fmt::join(names, " and "));
}

std::string threads_text(const Record& record) {
  if (record.arms.empty()) return {};
  const int threads = record.arms.front().threads;
  return fmt::format(", {} {}", threads, threads == 1 ? "thread" : "threads");
}

std::string claim_text(const Record& record) {
  if (!record.schedule) return {};
  const std::int64_t processes = record.schedule->processes;
  if (record.schedule->claim != "exploratory" && record.status == "exploratory") {
    return fmt::format("; {} processes of each backend: exploratory, without a verdict", processes);
  }
  if (record.schedule->claim == "exploratory") {
    return fmt::format(
        "; {} of each backend: exploratory, without interval or verdict",
        processes == 1 ? "one process" : fmt::format("{} processes are too few", processes));
  }
  return fmt::format(
      "; {} processes of each backend, {}", processes,
      record.schedule->claim == "published" ? "enough to publish" : "enough for a working answer");
}

}  // namespace

std::string listed(const std::vector<std::string>& parts) {
  if (parts.size() < 2) return parts.empty() ? "" : parts.front();
  const std::vector<std::string> first(parts.begin(), parts.end() - 1);
  return fmt::format("{} and {}", fmt::join(first, ", "), parts.back());
}

std::string verdict_of(const PairView& view) {
  std::string verdict;
  for (const RatioRecord& ratio : view.pair->ratios) {
    if (!ratio.time_ratio) continue;
    if (!verdict.empty() && verdict != ratio.verdict) return "UNDECIDED";
    verdict = ratio.verdict;
  }
  return verdict;
}

std::string ratio_clauses(const std::vector<PairView>& views, std::string_view base) {
  if (views.size() > kMostWords) return clauses_by_verdict(views, base);
  std::vector<std::string> clauses;
  for (const PairView& view : views) {
    for (const RatioRecord& ratio : view.pair->ratios) {
      clauses.push_back(ratio_clause(view, ratio, base));
    }
    if (!view.pair->ratios.empty()) continue;
    clauses.push_back(fmt::format("at batch {} no ratio: {}", view.of->batch, kNotMeasured));
  }
  return fmt::format("{}", fmt::join(clauses, "; "));
}

std::string crossover_text(const std::vector<PairView>& views) {
  if (views.size() < 2) return {};
  const Decided all = decided(views);
  if (all.known.empty()) {
    const bool judged = std::any_of(views.begin(), views.end(), [](const PairView& view) {
      return verdict_of(view) == "UNDECIDED";
    });
    return judged ? "; crossover batch: not known, nothing is decided" : "";
  }
  const std::string change = change_text(all);
  if (all.open.empty() || change.starts_with("not known")) {
    return fmt::format("; crossover batch: {}", change);
  }
  return fmt::format("; crossover batch: {} (of those decided; {})", change, all.open_text());
}

std::optional<std::int64_t> crossover_batch(const std::vector<PairView>& views) {
  const Decided all = decided(views);
  const Changes changes = changes_of(all.known);
  if (changes.count != 1) return std::nullopt;
  const std::int64_t batch = all.known[changes.at].batch;
  if (all.is_open(all.known[changes.at - 1].batch, batch)) return std::nullopt;
  return batch;
}

std::string scope_sentence(const Record& record) {
  const std::string processor = fact_of(record, "processor");
  const std::string compiler = fact_of(record, "compiler");
  const std::string backends = backends_text(record);
  return fmt::format(
      "All of this holds only for {} ({}, {}) on data {}{}{}{}{}{}.", record.work.model,
      record.work.optimizer, record.work.dtype, record.work.data,
      backends.empty() ? "" : fmt::format(", with {}", backends), threads_text(record),
      processor.empty() ? ", on a machine without a name" : fmt::format(", on {}", processor),
      compiler.empty() ? "" : fmt::format(", built by {}", compiler), claim_text(record));
}

}  // namespace stepscope
