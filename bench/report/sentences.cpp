// Sentences from arms, pairs and their verdicts.
// SPDX-License-Identifier: Apache-2.0
#include "bench/report/sentences.h"

#include <fmt/format.h>

#include <algorithm>
#include <functional>
#include <set>

#include "bench/record/simulated.h"
#include "bench/report/arms.h"
#include "bench/report/clauses.h"
#include "bench/report/fusion_clauses.h"
#include "bench/report/numbers.h"

namespace stepscope {
namespace {

constexpr std::string_view kNull = "null";  // the backend that computes nothing

// The groups of each backend, by rising batch.
std::map<std::string, std::vector<Group>> by_backend(const Record& record) {
  std::map<std::string, std::vector<Group>> backends;
  for (const auto& [key, group] : groups_of(record)) backends[key.first].push_back(group);
  return backends;
}

// "a; b; c": what is said of each backend as one sentence.
std::string joined(const Record& record,
                   const std::function<std::string(const std::vector<Group>&)>& clause_of) {
  std::vector<std::string> clauses;
  for (const auto& [backend, groups] : by_backend(record)) {
    std::string clause = clause_of(groups);
    if (!clause.empty())
      clauses.push_back(fmt::format("on {}, {}", labelled_in(record, backend), clause));
  }
  if (clauses.empty()) return {};
  std::string text = fmt::format("{}.", fmt::join(clauses, "; "));
  text.front() = 'O';
  return text;
}

const ArmRecord* dispatching_arm(const Group& group, std::string_view mode) {
  for (const ArmRecord* arm : group) {
    if (arm->mode_requested == mode && arm->dispatch_empty_kernels) return arm;
  }
  return nullptr;
}

// The mode whose dispatch is told at every batch: eager, where it was timed.
std::string_view dispatching_mode(const std::vector<Group>& groups) {
  for (const std::string_view mode : {"eager", "planned"}) {
    for (const Group& group : groups) {
      if (dispatching_arm(group, mode) != nullptr) return mode;
    }
  }
  return "graph";
}

// 8.5 %; what was measured is never 0 %, and dispatch is never more than its step.
std::string percent_text(double percent) {
  if (percent < 0.05) return "<0.1 %";
  if (percent >= 99.95) return "all";
  return fmt::format("{:.1f} %", percent);
}

// Of a step timed in the same way: blocks of steps that are not waited for one by one.
std::string share_text(double dispatch_ns, const ArmRecord& arm) {
  const TimeSummary& throughput = arm.throughput_summary;
  if (arm.simulated) return {};
  if (throughput.count == 0 || throughput.median_ns <= 0.0) return {};
  const std::string step =
      fmt::format("a step of {} in throughput", time_text(throughput.median_ns));
  const double percent = 100.0 * dispatch_ns / throughput.median_ns;
  if (percent >= 99.95) return fmt::format("; cannot be told from {}", step);
  return fmt::format("; {} of {}", percent_text(percent), step);
}

// "1.03 us to 1.32 us a step (60.8 ns to 77.9 ns per op): 2.5 % of a step in throughput at batch 1,
// 0.6 % at 32 and 0.2 % at 128".
std::string dispatch_range(const std::vector<const ArmRecord*>& arms) {
  std::vector<double> steps, ops;
  std::vector<std::string> shares;
  for (const ArmRecord* arm : arms) {
    steps.push_back(arm->dispatch_empty_kernels->median_ns);
    ops.push_back(steps.back() / static_cast<double>(arm->counts.ops));
    if (arm->simulated || arm->throughput_summary.count == 0 ||
        arm->throughput_summary.median_ns <= 0.0) {
      continue;
    }
    shares.push_back(fmt::format(
        "{} {}at {}{}", percent_text(100.0 * steps.back() / arm->throughput_summary.median_ns),
        shares.empty() ? "of a step in throughput " : "", shares.empty() ? "batch " : "",
        arm->batch));
  }
  const auto range = [](const std::vector<double>& values) {
    const auto [low, high] = std::minmax_element(values.begin(), values.end());
    return fmt::format("{} to {}", time_text(*low), time_text(*high));
  };
  return fmt::format("{} a step ({} per op){}", range(steps), range(ops),
                     shares.empty() ? "" : fmt::format(": {}", listed(shares)));
}

std::string dispatch_clause(const std::vector<Group>& groups) {
  constexpr std::size_t kMostInFull = 2;
  std::vector<const ArmRecord*> arms;
  const std::string_view mode = dispatching_mode(groups);
  const bool null = groups.front().front()->backend == kNull;
  for (const Group& group : groups) {
    const ArmRecord* arm = dispatching_arm(group, mode);
    if (arm != nullptr && arm->counts.ops > 0) arms.push_back(arm);
  }
  if (!null && arms.size() > kMostInFull) {
    return fmt::format("{} dispatch alone takes {}", mode, dispatch_range(arms));
  }
  std::vector<std::string> parts;
  for (const ArmRecord* arm : arms) {
    const double dispatch = arm->dispatch_empty_kernels->median_ns;
    parts.push_back(fmt::format("{} a step at batch {} ({} per op{})", time_text(dispatch),
                                arm->batch,
                                time_text(dispatch / static_cast<double>(arm->counts.ops)),
                                null ? "" : share_text(dispatch, *arm)));
  }
  if (parts.empty()) return {};
  return fmt::format("{}{} dispatch alone takes {}",
                     null ? "which computes nothing, a step is dispatch: " : "", mode,
                     fmt::join(parts, ", "));
}

// Graph and eager of the same passes: none, where that was timed, else whatever there is.
PairView graph_pair(const Record& record, const Group& group) {
  for (const std::string_view base : {"eager", "planned"}) {
    PairView fused;
    for (const ArmRecord* of : group) {
      if (of->mode_requested != "graph") continue;
      for (const ArmRecord* other : group) {
        if (other->mode_requested != base || other->fusion != of->fusion) continue;
        const PairView view = find_pair(record, *other, *of);
        if (view.pair == nullptr) continue;
        if (of->fusion == kUnfused) return view;
        if (fused.pair == nullptr) fused = view;
      }
    }
    if (fused.pair != nullptr) return fused;
  }
  return {};
}

// Why it is not known stands in the table; here only where it is the same at every batch.
std::string break_even_text(const std::vector<PairView>& views) {
  std::vector<std::pair<std::string, std::vector<std::string>>> answers;  // and their batches
  std::set<std::string> texts;
  for (const PairView& view : views) {
    if (!view.pair->break_even) continue;
    const std::string& text = view.pair->break_even->text;
    texts.insert(text);
    const std::string answer = text.substr(0, text.find(':'));
    auto at = std::find_if(answers.begin(), answers.end(),
                           [&](const auto& known) { return known.first == answer; });
    if (at == answers.end()) at = answers.insert(at, {answer, {}});
    at->second.push_back(fmt::to_string(view.of->batch));
  }
  if (answers.empty()) return {};
  if (texts.size() == 1 && texts.begin()->starts_with("not known")) {
    return fmt::format("; break-even: {}", *texts.begin());
  }
  std::vector<std::string> parts;
  for (const auto& [answer, batches] : answers) {
    parts.push_back(fmt::format("{} at batch {}", answer, listed(batches)));
  }
  return fmt::format("; break-even: {}", fmt::join(parts, ", "));
}

// A pair for each batch that has one.
std::vector<PairView> graph_pairs(const Record& record, const std::vector<Group>& groups) {
  std::vector<PairView> views;
  for (const Group& group : groups) {
    const PairView view = graph_pair(record, group);
    if (view.pair != nullptr) views.push_back(view);
  }
  return views;
}

// "graph hands over 1 submission a step in place of 17"; empty where nothing was counted.
std::string submissions_text(const PairView& view) {
  const std::uint64_t submissions = view.of->counts.submissions;
  if (submissions == 0) return {};
  return fmt::format("graph hands over {} {} a step in place of {}", submissions,
                     submissions == 1 ? "submission" : "submissions",
                     view.base->counts.submissions);
}

std::string graph_clause(const Record& record, const std::vector<Group>& groups) {
  const std::vector<PairView> views = graph_pairs(record, groups);
  if (views.empty()) return {};
  const PairView& last = views.back();
  const std::string counts = submissions_text(last);
  return fmt::format("{} {}{}{}", counts.empty() ? "graph" : fmt::format("{}:", counts),
                     ratio_clauses(views, last.base->mode_requested + "'s"), crossover_text(views),
                     break_even_text(views));
}

// What holds however long a step took.
std::string counts_clause(const Record& record, const std::vector<Group>& groups) {
  std::vector<std::string> parts;
  const std::vector<PairView> views = graph_pairs(record, groups);
  if (!views.empty()) parts.push_back(submissions_text(views.back()));
  parts.push_back(fusion_counts_clause(record, groups));
  parts.erase(std::remove(parts.begin(), parts.end(), ""), parts.end());
  return fmt::format("{}", fmt::join(parts, "; "));
}

// Graph arms of backends against those of the first, with all passes where that was timed.
std::string between_sentence(const Record& record) {
  std::map<std::pair<std::string, std::string>, std::vector<PairView>> found;  // backend, fusion
  for (const PairView& view : pairs_of(record)) {
    if (view.pair->kind != "arm" || !view.crosses_backends()) continue;
    found[{view.of->backend, view.of->fusion}].push_back(view);
  }
  std::vector<std::string> clauses;
  for (auto& [key, views] : found) {
    const bool fused = found.contains({key.first, std::string(kAllPasses)});
    if (fused && key.second != kAllPasses) continue;
    std::stable_sort(views.begin(), views.end(), [](const PairView& a, const PairView& b) {
      return a.of->batch < b.of->batch;
    });
    const std::string& base = views.front().base->backend;
    clauses.push_back(fmt::format("{} against {} in graph, fusion {}: {}{}", key.first, base,
                                  key.second, ratio_clauses(views, base + "'s"),
                                  crossover_text(views)));
  }
  return clauses.empty() ? "" : fmt::format("Between backends, {}.", fmt::join(clauses, "; "));
}

bool has_ratio(const Record& record) {
  return std::any_of(record.pairs.begin(), record.pairs.end(), [](const PairRecord& pair) {
    return pair.kind == "arm" &&
           std::any_of(pair.ratios.begin(), pair.ratios.end(),
                       [](const RatioRecord& ratio) { return ratio.time_ratio.has_value(); });
  });
}

// What was unequal: the first gate that failed, else as the status says.
std::string inequality(const Record& record) {
  const auto failed = std::find_if(record.gates.begin(), record.gates.end(),
                                   [](const GateRecord& gate) { return !gate.passed; });
  if (failed == record.gates.end()) return record.status_reason;
  return fmt::format("on {} at batch {}, {}/{} against {}/{}, {}", failed->backend, failed->batch,
                     failed->mode, failed->fusion, failed->baseline_mode, failed->baseline_fusion,
                     failed->detail);
}

// Why there is no ratio to tell of; empty when there may be some.
std::string refusal(const Record& record) {
  const std::string why =
      record.status_reason.empty() ? "" : fmt::format(": {}", record.status_reason);
  if (record.status == "not-run")
    return fmt::format("Nothing was run{}; there are no numbers.", why);
  if (record.status == kSimulated) {
    return fmt::format("There is no ratio{}.", why);
  }
  if (record.status == "void") {
    return fmt::format("The run is void{}; no ratio of it may be quoted, run it again.", why);
  }
  if (record.status == "inconclusive-environment") {
    return fmt::format("The machine is too restless to decide{}; no ratio of this may be quoted.",
                       why);
  }
  if (has_ratio(record)) return {};
  const bool failed = std::any_of(record.gates.begin(), record.gates.end(),
                                  [](const GateRecord& gate) { return !gate.passed; });
  if (!failed && record.status != "unequal-work") return {};
  return fmt::format("The arms did unequal work, so there is no ratio: {}.", inequality(record));
}

}  // namespace

std::vector<std::string> sentences(const Record& record) {
  std::vector<std::string> said;
  const auto say = [&](std::string sentence) {
    if (!sentence.empty() && said.size() + 1 < kMostSentences) said.push_back(std::move(sentence));
  };
  const std::string refused = refusal(record);
  if (refused.empty()) {
    if (record.status == "unequal-work") {
      say(fmt::format("Some pairs have no ratio, since their work was not equal: {}.",
                      inequality(record)));
    }
    say(joined(record, dispatch_clause));
    say(joined(record, [&](const auto& groups) { return graph_clause(record, groups); }));
    say(joined(record, [&](const auto& groups) { return fusion_clause(record, groups); }));
    say(between_sentence(record));
  } else {
    say(refused);
    if (is_void(record) || record.status == kSimulated) {
      std::string counts =
          joined(record, [&](const auto& groups) { return counts_clause(record, groups); });
      if (!counts.empty()) {
        counts.front() = 'o';
        say(fmt::format("What time does not decide: {}", counts));
      }
    }
  }
  if (record.status != "not-run") said.push_back(scope_sentence(record));
  return said;
}

}  // namespace stepscope
