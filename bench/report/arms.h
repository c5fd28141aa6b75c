// Arms of a record, found by what they are: what tables and sentences begin with.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "bench/record/record.h"

namespace stepscope {

// Arms of one backend and batch, in the order of the record.
using Group = std::vector<const ArmRecord*>;
using GroupKey = std::pair<std::string, std::int64_t>;  // backend, batch
std::map<GroupKey, Group> groups_of(const Record& record);

bool is_measured(const ArmRecord& arm);

// Null when there is no such arm, or when it was not timed.
const ArmRecord* find_arm(const Group& group, std::string_view mode, std::string_view fusion);
const RatioRecord* find_ratio(const ArmRecord& arm, std::string_view mode, std::string_view fusion);

// Fusion texts: off, on, or passes; `-NAME` leaves one out.
inline constexpr std::string_view kUnfused = "off";
inline constexpr std::string_view kAllPasses = "on";
std::string without(std::string_view pass);

// Modes of the group that have arms with all passes and with one left out: an ablation.
std::vector<std::string> ablated_modes(const Group& group);

}  // namespace stepscope
