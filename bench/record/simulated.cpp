// Labels of simulated backends.
// SPDX-License-Identifier: Apache-2.0
#include "bench/record/simulated.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

namespace stepscope {

std::string why_simulated(const std::vector<std::string>& backends) {
  return fmt::format("no time of {} is one of a GPU", fmt::join(backends, " or "));
}

std::string times_of_simulated(const std::vector<std::string>& backends) {
  return fmt::format("device times of {} are {}; {} others are {}", fmt::join(backends, " and "),
                     kDeviceTimesAre, backends.size() == 1 ? "its" : "their", kHostTimesAre);
}

std::string labelled(const std::string& backend, bool simulated) {
  return simulated ? fmt::format("{} ({})", backend, kSimulated) : backend;
}

std::string labelled_backend(const ArmRecord& arm) { return labelled(arm.backend, arm.simulated); }

std::vector<std::string> simulated_backends(const Record& record) {
  std::vector<std::string> names;
  for (const ArmRecord& arm : record.arms) {
    const bool known = std::find(names.begin(), names.end(), arm.backend) != names.end();
    if (arm.simulated && !known) names.push_back(arm.backend);
  }
  return names;
}

void add_simulated_note(Record& record) {
  const std::vector<std::string> names = simulated_backends(record);
  if (names.empty()) return;
  record.notes.push_back(fmt::format("{}: {}, counts and values are as on a device", kSimulated,
                                     times_of_simulated(names)));
}

std::string labelled_in(const Record& record, const std::string& backend) {
  const std::vector<std::string> names = simulated_backends(record);
  return labelled(backend, std::find(names.begin(), names.end(), backend) != names.end());
}

bool is_simulated(const Record& record) {
  return !record.arms.empty() && std::all_of(record.arms.begin(), record.arms.end(),
                                             [](const ArmRecord& arm) { return arm.simulated; });
}

}  // namespace stepscope
