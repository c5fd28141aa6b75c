// Arms and pairs of a record, found by what they are: what tables and sentences begin with.
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

// Arms of one backend and batch, in the order of the record, without controls and the arms of a
// self-check.
using Group = std::vector<const ArmRecord*>;
using GroupKey = std::pair<std::string, std::int64_t>;  // backend, batch
std::map<GroupKey, Group> groups_of(const Record& record);
// Of each backend the group of its largest batch.
std::vector<Group> largest_groups_of(const Record& record);

bool is_measured(const ArmRecord& arm);
// Whether no ratio of the run may be quoted, whatever was measured.
bool is_void(const Record& record);
// Whether this ratio of the run may be quoted: neither is void.
bool is_quotable(const Record& record, const RatioRecord& ratio);
// Whether the record has arms of several backends: then each must be named.
bool has_backends(const Record& record);
// Near, far: of two threads, never mixed; empty where one thread has no distance.
std::string cores_of(const RatioRecord& ratio);
// graph/on; with its backend, eigen/graph/on, where the record has several.
std::string label_of(const Record& record, const ArmRecord& arm);

// Null when there is no such arm, or when it was not timed.
const ArmRecord* find_arm(const Group& group, std::string_view mode, std::string_view fusion);

// A pair with its arms. Pairs that name an arm which is not there are in no list.
struct PairView {
  const PairRecord* pair = nullptr;
  const ArmRecord* base = nullptr;
  const ArmRecord* of = nullptr;

  bool crosses_backends() const { return base->backend != of->backend; }
};
std::vector<PairView> pairs_of(const Record& record);
// The pair of these two arms, or one without arms.
PairView find_pair(const Record& record, const ArmRecord& base, const ArmRecord& of);

// Fusion texts: off, on, or passes; `-NAME` leaves one out.
inline constexpr std::string_view kUnfused = "off";
inline constexpr std::string_view kAllPasses = "on";
std::string without(std::string_view pass);

// Modes of the group that have arms with all passes and with one left out: an ablation.
std::vector<std::string> ablated_modes(const Group& group);

}  // namespace stepscope
