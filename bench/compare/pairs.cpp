// Pairs within a backend and between backends.
// SPDX-License-Identifier: Apache-2.0
#include "bench/compare/pairs.h"

#include <algorithm>

namespace stepscope {
namespace {

constexpr std::string_view kUnfused = "off";
constexpr std::string_view kAllPasses = "on";

bool is_pair(const ArmRecord& arm, const ArmRecord& base, bool ablate) {
  const bool same_mode = arm.mode_requested == base.mode_requested;
  const bool same_fusion = arm.fusion == base.fusion;
  if (arm.mode_requested == "graph" && base.mode_requested == "planned" && same_fusion) return true;
  return same_mode && !same_fusion && base.fusion == (ablate ? kAllPasses : kUnfused);
}

}  // namespace

std::size_t base_of(const std::vector<const ArmRecord*>& arms, bool ablate) {
  const auto at = std::find_if(arms.begin(), arms.end(), [&](const ArmRecord* arm) {
    if (arm->role != "arm") return false;
    if (ablate) return arm->fusion == kAllPasses;
    return arm->mode_requested == "eager" && arm->fusion == kUnfused;
  });
  return at == arms.end() ? 0 : static_cast<std::size_t>(at - arms.begin());
}

std::vector<ArmPair> pairs_of(const std::vector<const ArmRecord*>& arms, bool ablate) {
  const std::size_t first = base_of(arms, ablate);
  std::vector<ArmPair> pairs;
  for (std::size_t of = 0; of < arms.size(); ++of) {
    if (arms[of]->role != "arm") pairs.push_back({first, of, arms[of]->role});
  }
  std::stable_partition(pairs.begin(), pairs.end(),
                        [](const ArmPair& pair) { return pair.kind == "control"; });
  for (std::size_t of = 0; of < arms.size(); ++of) {
    if (arms[of]->role != "arm" || of == first) continue;
    for (std::size_t base = 0; base < arms.size(); ++base) {
      if (base == of || arms[base]->role != "arm") continue;
      if (base != first && !is_pair(*arms[of], *arms[base], ablate)) continue;
      pairs.push_back({base, of, "arm"});
    }
  }
  return pairs;
}

std::vector<PairRecord> pairs_between_backends(const std::vector<ArmRecord>& arms) {
  std::vector<PairRecord> pairs;
  if (arms.empty()) return pairs;
  const std::string& first = arms.front().backend;
  for (const ArmRecord& of : arms) {
    if (of.backend == first || of.role != "arm" || of.mode_requested != "graph") continue;
    const auto base = std::find_if(arms.begin(), arms.end(), [&](const ArmRecord& arm) {
      return arm.backend == first && arm.role == "arm" && arm.mode_requested == "graph" &&
             arm.fusion == of.fusion && arm.batch == of.batch;
    });
    if (base == arms.end()) continue;
    pairs.push_back({.base = base->name, .of = of.name});
  }
  return pairs;
}

}  // namespace stepscope
