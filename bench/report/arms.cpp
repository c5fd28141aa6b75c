// Finding arms and their ratios.
// SPDX-License-Identifier: Apache-2.0
#include "bench/report/arms.h"

#include <fmt/format.h>

#include <algorithm>

namespace stepscope {

std::map<GroupKey, Group> groups_of(const Record& record) {
  std::map<GroupKey, Group> groups;
  for (const ArmRecord& arm : record.arms) groups[{arm.backend, arm.batch}].push_back(&arm);
  return groups;
}

bool is_measured(const ArmRecord& arm) { return arm.wall.count > 0; }

const ArmRecord* find_arm(const Group& group, std::string_view mode, std::string_view fusion) {
  for (const ArmRecord* arm : group) {
    if (arm->mode_requested == mode && arm->fusion == fusion && is_measured(*arm)) return arm;
  }
  return nullptr;
}

const RatioRecord* find_ratio(const ArmRecord& arm, std::string_view mode,
                              std::string_view fusion) {
  for (const RatioRecord& ratio : arm.ratios) {
    if (ratio.mode == mode && ratio.fusion == fusion) return &ratio;
  }
  return nullptr;
}

std::string without(std::string_view pass) { return fmt::format("-{}", pass); }

std::vector<std::string> ablated_modes(const Group& group) {
  std::vector<std::string> modes;
  for (const ArmRecord* all : group) {
    if (all->fusion != kAllPasses || !is_measured(*all)) continue;
    const bool ablated =
        std::any_of(all->passes.begin(), all->passes.end(), [&](const PassRecord& pass) {
          return find_arm(group, all->mode_requested, without(pass.name)) != nullptr;
        });
    if (ablated) modes.push_back(all->mode_requested);
  }
  return modes;
}

}  // namespace stepscope
