// Fusion in words.
// SPDX-License-Identifier: Apache-2.0
#include "bench/report/fusion_clauses.h"

#include <fmt/format.h>

#include <algorithm>

#include "bench/report/clauses.h"
#include "bench/report/numbers.h"

namespace stepscope {
namespace {

double estimate_of(const PairView& view) {
  double most = 0.0;
  for (const RatioRecord& ratio : view.pair->ratios) {
    if (ratio.time_ratio) most = std::max(most, ratio.time_ratio->estimate);
  }
  return most;
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

// Of a fused and an unfused arm, whichever of them is the base.
struct FusionViews {
  std::vector<PairView> pairs;  // by rising batch

  bool ablated() const { return pairs.back().of->fusion == kUnfused; }
};

FusionViews fusion_pairs(const Record& record, const std::vector<Group>& groups,
                         const std::string& fusion) {
  FusionViews views;
  for (const Group& group : groups) {
    const PairView view = fusion_pair(record, group, fusion);
    if (view.pair != nullptr && view.of->counts.ops > 0) views.pairs.push_back(view);
  }
  return views;
}

// At the largest batch.
std::string counts_of(const FusionViews& views, const std::string& fusion) {
  const PairView& last = views.pairs.back();
  const StepCounts& unfused = views.ablated() ? last.of->counts : last.base->counts;
  const StepCounts& fused = views.ablated() ? last.base->counts : last.of->counts;
  const std::string which = views.ablated()        ? " (all passes together)"
                            : fusion == kAllPasses ? ""
                                                   : fmt::format(" {}", fusion);
  return fmt::format("fusion{} {} (batch {})", which, removed_text(unfused, fused), last.of->batch);
}

std::string times_of(const FusionViews& views) {
  return fmt::format("; {}in mode {} {}", views.ablated() ? "without it, " : "",
                     views.pairs.back().of->mode_requested,
                     ratio_clauses(views.pairs, views.ablated() ? "the fused" : "the unfused"));
}

// The fusions of the arms, in their order; in an ablation not those that leave one pass out.
std::vector<std::string> fusions_of(const std::vector<Group>& groups) {
  const bool ablated = !ablated_modes(groups.back()).empty();
  std::vector<std::string> fusions;
  for (const Group& group : groups) {
    for (const ArmRecord* arm : group) {
      const bool left_out = ablated && arm->fusion.starts_with('-');
      const bool known = std::find(fusions.begin(), fusions.end(), arm->fusion) != fusions.end();
      if (arm->fusion != kUnfused && !left_out && !known) fusions.push_back(arm->fusion);
    }
  }
  return fusions;
}

// The pairs of a mode in which one pass is left out, that got this verdict.
std::vector<PairView> left_out(const Record& record, const Group& group, const std::string& mode,
                               std::string_view verdict) {
  const ArmRecord& all = *find_arm(group, mode, kAllPasses);
  std::vector<PairView> views;
  for (const ArmRecord* arm : group) {
    if (arm->mode_requested != mode || !arm->fusion.starts_with('-')) continue;
    const PairView view = find_pair(record, all, *arm);
    if (view.pair != nullptr && verdict_of(view) == verdict) views.push_back(view);
  }
  return views;
}

// The pass whose absence costs most at the largest batch, of those that a verdict tells apart.
std::string worth_text(const Record& record, const Group& group) {
  const std::vector<std::string> modes = ablated_modes(group);
  for (const std::string& mode : modes) {
    const std::vector<PairView> slower = left_out(record, group, mode, "SLOWER");
    if (slower.empty()) continue;
    const auto most = std::max_element(
        slower.begin(), slower.end(),
        [](const PairView& a, const PairView& b) { return estimate_of(a) < estimate_of(b); });
    return fmt::format("worth most in mode {} is {}: without it {}", mode,
                       most->of->fusion.substr(1), ratio_clauses({*most}, "the fused"));
  }
  return modes.empty() ? "" : "no pass could be told apart";
}

}  // namespace

std::string fusion_counts_clause(const Record& record, const std::vector<Group>& groups) {
  std::vector<std::string> parts;
  for (const std::string& fusion : fusions_of(groups)) {
    const FusionViews views = fusion_pairs(record, groups, fusion);
    if (!views.pairs.empty()) parts.push_back(counts_of(views, fusion));
  }
  return fmt::format("{}", fmt::join(parts, "; "));
}

std::string fusion_clause(const Record& record, const std::vector<Group>& groups) {
  std::vector<std::string> parts;
  for (const std::string& fusion : fusions_of(groups)) {
    const FusionViews views = fusion_pairs(record, groups, fusion);
    if (views.pairs.empty()) continue;
    parts.push_back(counts_of(views, fusion) + times_of(views));
  }
  std::string worth = worth_text(record, groups.back());
  if (!worth.empty()) parts.push_back(std::move(worth));
  return fmt::format("{}", fmt::join(parts, "; "));
}

}  // namespace stepscope
