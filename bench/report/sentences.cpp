// Sentences from arms, pairs and their verdicts.
// SPDX-License-Identifier: Apache-2.0
#include "bench/report/sentences.h"

#include <fmt/format.h>

#include <algorithm>
#include <functional>
#include <set>

#include "bench/report/arms.h"
#include "bench/report/clauses.h"
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
    if (!clause.empty()) clauses.push_back(fmt::format("on {}, {}", backend, clause));
  }
  if (clauses.empty()) return {};
  std::string text = fmt::format("{}.", fmt::join(clauses, "; "));
  text.front() = 'O';
  return text;
}

double step_ns(const ArmRecord& arm) {
  return arm.latency_summary.count > 0 ? arm.latency_summary.median_ns
                                       : arm.throughput_summary.median_ns;
}

// The arm whose dispatch is told: eager's, where there is one.
const ArmRecord* dispatching_arm(const Group& group) {
  for (const std::string_view mode : {"eager", "planned", "graph"}) {
    for (const ArmRecord* arm : group) {
      const bool known = arm->dispatch_empty_kernels || arm->backend == kNull;
      if (arm->mode_requested == mode && is_measured(*arm) && known) return arm;
    }
  }
  return nullptr;
}

std::string dispatch_clause(const std::vector<Group>& groups) {
  std::vector<std::string> parts;
  std::string mode;
  const bool null = groups.front().front()->backend == kNull;
  for (const Group& group : groups) {
    const ArmRecord* arm = dispatching_arm(group);
    if (arm == nullptr || arm->counts.ops == 0) continue;
    mode = arm->mode_requested;
    const double dispatch = null ? step_ns(*arm) : arm->dispatch_empty_kernels->median_ns;
    std::string inner =
        fmt::format("{} per op", time_text(dispatch / static_cast<double>(arm->counts.ops)));
    if (!null) {
      inner += fmt::format("; {:.1f} % of a step of {}", 100.0 * dispatch / step_ns(*arm),
                           time_text(step_ns(*arm)));
    }
    parts.push_back(
        fmt::format("{} a step at batch {} ({})", time_text(dispatch), arm->batch, inner));
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

std::string break_even_text(const std::vector<PairView>& views) {
  std::vector<std::string> parts;
  for (const PairView& view : views) {
    if (!view.pair->break_even) continue;
    const std::string& after = view.pair->break_even->text;  // "not known: " and why: in the table
    parts.push_back(
        fmt::format("{} at batch {}", after.substr(0, after.find(':')), view.of->batch));
  }
  return parts.empty() ? "" : fmt::format("; break-even: {}", fmt::join(parts, ", "));
}

std::string graph_clause(const Record& record, const std::vector<Group>& groups) {
  std::vector<PairView> views;
  for (const Group& group : groups) {
    const PairView view = graph_pair(record, group);
    if (view.pair != nullptr) views.push_back(view);
  }
  if (views.empty()) return {};
  const PairView& last = views.back();
  const std::string& base = last.base->mode_requested;
  std::string text = "graph";
  if (last.of->counts.submissions > 0) {
    text += fmt::format(" hands over {} {} a step in place of {}:", last.of->counts.submissions,
                        last.of->counts.submissions == 1 ? "submission" : "submissions",
                        last.base->counts.submissions);
  }
  return fmt::format("{} {}{}{}", text, ratio_clauses(views, base + "'s"), crossover_text(views),
                     break_even_text(views));
}

// What fusion took away; where it added something (reorders, mostly), both numbers.
std::string removed_text(const StepCounts& unfused, const StepCounts& fused) {
  const bool fewer =
      fused.ops <= unfused.ops && fused.intermediate_bytes <= unfused.intermediate_bytes;
  const auto bytes = [](std::uint64_t count) { return bytes_text(static_cast<double>(count)); };
  if (fewer) {
    return fmt::format("removes {} of {} ops and {} of {} of intermediates",
                       unfused.ops - fused.ops, unfused.ops,
                       bytes(unfused.intermediate_bytes - fused.intermediate_bytes),
                       bytes(unfused.intermediate_bytes));
  }
  return fmt::format("turns {} ops into {} and {} of intermediates into {}", unfused.ops, fused.ops,
                     bytes(unfused.intermediate_bytes), bytes(fused.intermediate_bytes));
}

// A fused and the unfused arm of one mode, graph first; in an ablation the fused one is the base.
PairView fusion_pair(const Record& record, const Group& group, std::string_view fusion) {
  for (const std::string_view mode : {"graph", "planned", "eager"}) {
    for (const ArmRecord* fused : group) {
      if (fused->mode_requested != mode || fused->fusion != fusion) continue;
      for (const ArmRecord* unfused : group) {
        if (unfused->mode_requested != mode || unfused->fusion != kUnfused) continue;
        const PairView view = find_pair(record, *unfused, *fused);
        if (view.pair != nullptr) return view;
        const PairView ablated = find_pair(record, *fused, *unfused);
        if (ablated.pair != nullptr) return ablated;
      }
    }
  }
  return {};
}

std::string fusion_text(const Record& record, const std::vector<Group>& groups,
                        const std::string& fusion) {
  std::vector<PairView> views;
  for (const Group& group : groups) {
    const PairView view = fusion_pair(record, group, fusion);
    if (view.pair != nullptr && view.of->counts.ops > 0) views.push_back(view);
  }
  if (views.empty()) return {};
  const PairView& last = views.back();
  const bool ablated = last.of->fusion == kUnfused;
  const StepCounts& unfused = ablated ? last.of->counts : last.base->counts;
  const StepCounts& fused = ablated ? last.base->counts : last.of->counts;
  return fmt::format("fusion{} {} (batch {}); {}in mode {} {}",
                     fusion == kAllPasses ? "" : fmt::format(" {}", fusion),
                     removed_text(unfused, fused), last.of->batch, ablated ? "without it, " : "",
                     last.of->mode_requested,
                     ratio_clauses(views, ablated ? "the fused" : "the unfused"));
}

// The pass whose absence costs most, of the largest batch.
std::string worth_text(const Record& record, const Group& group) {
  for (const std::string& mode : ablated_modes(group)) {
    const ArmRecord& all = *find_arm(group, mode, kAllPasses);
    PairView worst;
    double most = 0.0;
    for (const ArmRecord* arm : group) {
      if (arm->mode_requested != mode || !arm->fusion.starts_with('-')) continue;
      const PairView view = find_pair(record, all, *arm);
      if (view.pair == nullptr || view.pair->ratios.empty()) continue;
      const std::optional<Interval>& ratio = view.pair->ratios.front().time_ratio;
      if (!ratio || ratio->estimate <= most) continue;
      worst = view;
      most = ratio->estimate;
    }
    if (worst.pair == nullptr) continue;
    return fmt::format("worth most in mode {} is {}: without it {}", mode,
                       worst.of->fusion.substr(1), ratio_clauses({worst}, "the fused"));
  }
  return {};
}

std::string fusion_clause(const Record& record, const std::vector<Group>& groups) {
  const bool ablated = !ablated_modes(groups.back()).empty();
  std::vector<std::string> parts;
  std::set<std::string> seen;
  for (const Group& group : groups) {
    for (const ArmRecord* arm : group) {
      const bool left_out = ablated && arm->fusion.starts_with('-');
      if (arm->fusion == kUnfused || left_out || !seen.insert(arm->fusion).second) continue;
      std::string part = fusion_text(record, groups, arm->fusion);
      if (!part.empty()) parts.push_back(std::move(part));
    }
  }
  std::string worth = worth_text(record, groups.back());
  if (!worth.empty()) parts.push_back(std::move(worth));
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
  if (record.status == "void") {
    return fmt::format("The run is void{}; no ratio of it may be quoted, run it again.", why);
  }
  if (record.status == "inconclusive-environment") {
    return fmt::format("The machine is too restless to decide{}; no ratio of this may be quoted.",
                       why);
  }
  if (has_ratio(record)) return {};
  const std::string unequal = inequality(record);
  if (unequal.empty() && record.status != "unequal-work") return {};
  return fmt::format("The arms did unequal work, so there is no ratio: {}.", unequal);
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
  }
  if (record.status != "not-run") said.push_back(scope_sentence(record));
  return said;
}

}  // namespace stepscope
