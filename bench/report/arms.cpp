// Finding arms and pairs.
// SPDX-License-Identifier: Apache-2.0
#include "bench/report/arms.h"

#include <fmt/format.h>

#include <algorithm>

#include "bench/record/simulated.h"

namespace stepscope {
namespace {

const ArmRecord* find_arm(const Record& record, std::string_view name) {
  const auto at = std::find_if(record.arms.begin(), record.arms.end(),
                               [&](const ArmRecord& arm) { return arm.name == name; });
  return at == record.arms.end() ? nullptr : &*at;
}

}  // namespace

std::map<GroupKey, Group> groups_of(const Record& record) {
  std::map<GroupKey, Group> groups;
  for (const ArmRecord& arm : record.arms) {
    if (arm.role == "arm") groups[{arm.backend, arm.batch}].push_back(&arm);
  }
  return groups;
}

std::vector<Group> largest_groups_of(const Record& record) {
  const auto groups = groups_of(record);
  std::vector<Group> largest;
  for (auto each = groups.begin(); each != groups.end(); ++each) {
    const auto next = std::next(each);
    if (next == groups.end() || next->first.first != each->first.first) {
      largest.push_back(each->second);
    }
  }
  return largest;
}

bool is_measured(const ArmRecord& arm) {
  return arm.latency_summary.count > 0 || arm.throughput_summary.count > 0;
}

bool is_void(const Record& record) {
  return record.status == "void" || record.status == "inconclusive-environment";
}

bool is_quotable(const Record& record, const RatioRecord& ratio) {
  return ratio.time_ratio && ratio.verdict != "void" && !is_void(record);
}

bool has_backends(const Record& record) {
  return std::any_of(record.arms.begin(), record.arms.end(), [&](const ArmRecord& arm) {
    return arm.backend != record.arms.front().backend;
  });
}

std::string cores_of(const RatioRecord& ratio) {
  return ratio.stratum == "single" ? "" : ratio.stratum;
}

std::string label_of(const Record& record, const ArmRecord& arm) {
  const std::string label = fmt::format("{}/{}", arm.mode_requested, arm.fusion);
  return has_backends(record) ? fmt::format("{}/{}", labelled_backend(arm), label) : label;
}

const ArmRecord* find_arm(const Group& group, std::string_view mode, std::string_view fusion) {
  for (const ArmRecord* arm : group) {
    if (arm->mode_requested == mode && arm->fusion == fusion && is_measured(*arm)) return arm;
  }
  return nullptr;
}

std::vector<PairView> pairs_of(const Record& record) {
  std::vector<PairView> pairs;
  for (const PairRecord& pair : record.pairs) {
    const PairView view{&pair, find_arm(record, pair.base), find_arm(record, pair.of)};
    if (view.base != nullptr && view.of != nullptr) pairs.push_back(view);
  }
  return pairs;
}

PairView find_pair(const Record& record, const ArmRecord& base, const ArmRecord& of) {
  for (const PairRecord& pair : record.pairs) {
    if (pair.base == base.name && pair.of == of.name) return {&pair, &base, &of};
  }
  return {};
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
