// Sentences from the arms: the smallest and the largest batch say most.
// SPDX-License-Identifier: Apache-2.0
#include "bench/report/sentences.h"

#include <fmt/format.h>

#include "bench/report/arms.h"
#include "bench/report/text.h"

namespace stepscope {
namespace {

constexpr std::size_t kMost = 4;  // beside the last one, which says what all of it is worth

// Whether the quartiles of two arms meet: then the medians alone prove little.
const char* overlap_of(const ArmRecord& a, const ArmRecord& b) {
  const bool meet = a.wall.q3_ns >= b.wall.q1_ns && a.wall.q1_ns <= b.wall.q3_ns;
  return meet ? ", and their quartiles overlap" : "";
}

std::string dispatch_sentence(const Group& group) {
  const ArmRecord* eager = find_arm(group, "eager", kUnfused);
  const ArmRecord* graph = find_arm(group, "graph", kUnfused);
  if (eager == nullptr || graph == nullptr || !eager->dispatch_empty_kernels) return {};
  const double dispatch = eager->dispatch_empty_kernels->median_ns;
  return fmt::format(
      "At batch {} on {}, eager dispatch alone takes {} a step ({} per op), against a step of {} "
      "({:.1f} %); graph takes {:.3f} of eager's median{}.\n",
      eager->batch, eager->backend, time_text(dispatch),
      time_text(dispatch / static_cast<double>(eager->counts.ops)),
      time_text(eager->wall.median_ns), 100.0 * dispatch / eager->wall.median_ns,
      graph->wall.median_ns / eager->wall.median_ns, overlap_of(*eager, *graph));
}

struct Pair {
  const ArmRecord* fused = nullptr;
  const ArmRecord* unfused = nullptr;
};

// The last of eager, planned, graph that was timed both ways; all passes if they are among the
// arms.
Pair fused_pair(const Group& group) {
  Pair best;
  for (const std::string_view mode : {"eager", "planned", "graph"}) {
    const ArmRecord* unfused = find_arm(group, mode, kUnfused);
    if (unfused == nullptr) continue;
    const ArmRecord* fused = find_arm(group, mode, kAllPasses);
    for (const ArmRecord* arm : group) {
      if (fused != nullptr) break;
      if (arm->mode_requested == mode && arm->fusion != kUnfused && is_measured(*arm)) fused = arm;
    }
    if (fused != nullptr) best = {fused, unfused};
  }
  return best;
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

std::string fusion_sentence(const Group& group) {
  const auto [fused, unfused] = fused_pair(group);
  if (fused == nullptr) return {};
  const std::string which = fused->fusion == kAllPasses ? "" : fmt::format(" ({})", fused->fusion);
  return fmt::format(
      "At batch {} on {}, fusion{} {}; in mode {} the step takes {:.3f} of the unfused median{}.\n",
      fused->batch, fused->backend, which, removed_text(unfused->counts, fused->counts),
      fused->mode_executed, fused->wall.median_ns / unfused->wall.median_ns,
      overlap_of(*fused, *unfused));
}

// The pass whose absence costs most.
std::string ablation_sentence(const Group& group) {
  for (const std::string& mode : ablated_modes(group)) {
    const ArmRecord* worst = nullptr;
    double ratio = 0.0;
    for (const ArmRecord* arm : group) {
      if (arm->mode_requested != mode || !arm->fusion.starts_with('-')) continue;
      const RatioRecord* found = find_ratio(*arm, mode, kAllPasses);
      if (found == nullptr || found->medians <= ratio) continue;
      worst = arm;
      ratio = found->medians;
    }
    if (worst == nullptr) continue;
    const RatioRecord& found = *find_ratio(*worst, mode, kAllPasses);
    return fmt::format(
        "At batch {} on {}, the pass that is worth most in mode {} is {}: without it the step "
        "takes "
        "{:.3f} of the median with all{}.\n",
        worst->batch, worst->backend, mode, worst->fusion.substr(1), ratio,
        found.q1 <= 1.0 ? ", and a quarter of the rounds or more say otherwise" : "");
  }
  return {};
}

}  // namespace

std::string sentences(const Record& record) {
  const auto groups = groups_of(record);
  std::map<std::string, std::vector<const Group*>> by_backend;
  for (const auto& [key, group] : groups) by_backend[key.first].push_back(&group);
  std::vector<std::string> said;
  const auto say = [&](const std::string& sentence) {
    if (!sentence.empty() && said.size() < kMost) said.push_back(sentence);
  };
  for (const auto& [backend, list] : by_backend) {
    std::vector<const Group*> ends{list.front()};
    if (list.size() > 1) ends.push_back(list.back());
    for (const auto& sentence_of : {dispatch_sentence, fusion_sentence, ablation_sentence}) {
      for (const Group* group : ends) say(sentence_of(*group));
    }
  }
  said.emplace_back(
      "One process is no proof: ratios are exploratory, without interval or verdict.\n");
  return fmt::format("{}", fmt::join(said, ""));
}

}  // namespace stepscope
