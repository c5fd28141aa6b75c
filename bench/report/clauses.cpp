// Verdicts as parts of sentences, and the sentence of what they hold for.
// SPDX-License-Identifier: Apache-2.0
#include "bench/report/clauses.h"

#include <fmt/format.h>

#include <algorithm>

#include "bench/report/numbers.h"
#include "bench/report/sentences.h"

namespace stepscope {
namespace {

constexpr std::size_t kMostNumbers = 3;  // ratios in one sentence and backend

bool is_decided(std::string_view verdict) {
  return verdict == "FASTER" || verdict == "SLOWER" || verdict == "SAME";
}

std::string place_of(const PairView& view, const RatioRecord& ratio) {
  const bool far_or_near = !ratio.stratum.empty() && ratio.stratum != "single";
  return fmt::format("at batch {}{}", view.of->batch,
                     far_or_near ? fmt::format(", cores {},", ratio.stratum) : "");
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
  const bool why =
      !is_decided(ratio.verdict) && ratio.verdict != "exploratory" && !ratio.verdict_reason.empty();
  return fmt::format("{} {}, {} of {} {}{}{}", place, ratio.verdict,
                     ratio_text(ratio.time_ratio->estimate), base, us_text(ratio.base_us),
                     spread_text(ratio), why ? fmt::format(", {}", ratio.verdict_reason) : "");
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

// The views that are decided, and the batches of those that are UNDECIDED.
std::pair<std::vector<Pays>, std::vector<std::int64_t>> decided(
    const std::vector<PairView>& views) {
  std::vector<Pays> known;
  std::vector<std::int64_t> open;
  for (const PairView& view : views) {
    const std::string verdict = verdict_of(view);
    if (is_decided(verdict)) {
      known.push_back({view.of->batch, verdict});
    } else if (verdict == "UNDECIDED") {
      open.push_back(view.of->batch);
    }
  }
  return {known, open};
}

std::string change_text(const std::vector<Pays>& known, const std::vector<std::int64_t>& open) {
  const auto [changes, at] = changes_of(known);
  const auto undecided = [&open](std::int64_t low, std::int64_t high) {
    return std::any_of(open.begin(), open.end(),
                       [&](std::int64_t batch) { return low < batch && batch < high; });
  };
  if (changes > 1) return "not one: it pays at some batches and not at others, in no order";
  if (changes == 0) {
    if (!open.empty()) return fmt::format("not known, UNDECIDED at {}", fmt::join(open, ", "));
    return known.front().yes() ? "never, it pays at every batch measured"
                               : "never, it pays at no batch measured";
  }
  const std::string_view then = known[at].yes() ? "it pays" : "it does not pay";
  if (undecided(known[at - 1].batch, known[at].batch)) {
    return fmt::format("above {}, and {} from {} on", known[at - 1].batch, then, known[at].batch);
  }
  return fmt::format("{}, {} from there on", known[at].batch, then);
}

std::string fact(const Record& record, std::string_view name) {
  for (const Fact& fact : record.environment) {
    if (fact.name == name) return fact.value.value_or("");
  }
  return {};
}

// eigen 3.4.0, onednn v2.6.0; a backend without a library is its name.
std::string backends_text(const Record& record) {
  std::vector<std::string> names;
  for (const auto& [backend, facts] : record.backends) {
    const auto library = std::find_if(facts.begin(), facts.end(),
                                      [&](const auto& entry) { return entry.first == backend; });
    names.push_back(library == facts.end() ? backend
                                           : fmt::format("{} {}", backend, library->second));
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
  if (record.schedule->claim == "exploratory" || record.status == "exploratory") {
    return fmt::format(
        "; {} of each backend: exploratory, without interval or verdict",
        processes == 1 ? "one process" : fmt::format("{} processes are too few", processes));
  }
  return fmt::format(
      "; {} processes of each backend, {}", processes,
      record.schedule->claim == "published" ? "enough to publish" : "enough for a working answer");
}

}  // namespace

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
  std::vector<std::string> clauses;
  for (std::size_t i = 0; i < views.size(); ++i) {
    const bool between = i > 0 && i + 1 < views.size() && views.size() > kMostNumbers;
    const std::string verdict = verdict_of(views[i]);
    if (between && is_decided(verdict)) {
      clauses.push_back(fmt::format("at batch {} {}", views[i].of->batch, verdict));
      continue;
    }
    for (const RatioRecord& ratio : views[i].pair->ratios) {
      clauses.push_back(ratio_clause(views[i], ratio, base));
    }
    if (!views[i].pair->ratios.empty()) continue;
    clauses.push_back(fmt::format("at batch {} no ratio: {}", views[i].of->batch, kNotMeasured));
  }
  return fmt::format("{}", fmt::join(clauses, "; "));
}

std::string crossover_text(const std::vector<PairView>& views) {
  if (views.size() < 2) return {};
  const auto [known, open] = decided(views);
  if (known.empty() && open.empty()) return {};
  if (known.empty()) return "; crossover batch: not known, nothing is decided";
  const std::string change = change_text(known, open);
  if (open.empty() || change.starts_with("not known")) {
    return fmt::format("; crossover batch: {}", change);
  }
  return fmt::format("; crossover batch: {} (of those decided; UNDECIDED at {})", change,
                     fmt::join(open, ", "));
}

std::optional<std::int64_t> crossover_batch(const std::vector<PairView>& views) {
  const auto [known, open] = decided(views);
  const Changes changes = changes_of(known);
  if (changes.count != 1) return std::nullopt;
  return known[changes.at].batch;
}

std::string scope_sentence(const Record& record) {
  const std::string processor = fact(record, "processor");
  const std::string compiler = fact(record, "compiler");
  const std::string backends = backends_text(record);
  return fmt::format(
      "All of this holds only for {} ({}, {}) on data {}{}{}{}{}{}.", record.work.model,
      record.work.optimizer, record.work.dtype, record.work.data,
      backends.empty() ? "" : fmt::format(", with {}", backends), threads_text(record),
      processor.empty() ? ", on a machine without a name" : fmt::format(", on {}", processor),
      compiler.empty() ? "" : fmt::format(", built by {}", compiler), claim_text(record));
}

}  // namespace stepscope
