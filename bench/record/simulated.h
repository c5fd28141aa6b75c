// What is said of backends whose device is simulated: one wording, wherever it is said.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "bench/record/record.h"

namespace stepscope {

// Record::status where nothing was timed on anything else.
inline constexpr std::string_view kSimulated = "simulated";

// "no time of cuda-sim is one of a GPU": why there is no ratio of one. Of several "of a or b".
std::string why_simulated(const std::vector<std::string>& backends);
inline constexpr const char* kNoTimeOfGpu = "none of its times is one of a GPU";
// What their times are: two kinds, by who told them.
inline constexpr std::string_view kDeviceTimesAre = "values of the simulator's model";
inline constexpr std::string_view kHostTimesAre =
    "what simulating took on this processor, no time of a GPU";
// "device times of cuda-sim are values of ...; its others are what simulating took ...".
std::string times_of_simulated(const std::vector<std::string>& backends);
// "cuda-sim (simulated)", or the name alone.
std::string labelled(const std::string& backend, bool simulated);
std::string labelled_backend(const ArmRecord& arm);
std::string labelled_in(const Record& record, const std::string& backend);  // by its arms

// Names of the simulated backends of a record's arms, each once.
std::vector<std::string> simulated_backends(const Record& record);
// Whether all of its arms are simulated, and there is one.
bool is_simulated(const Record& record);

// The note of a record with simulated arms.
void add_simulated_note(Record& record);

}  // namespace stepscope
