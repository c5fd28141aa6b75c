// Whether two arms may be divided by each other.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <string_view>

#include "bench/record/record.h"

namespace stepscope {

// Empty: they may. Else one line that names the fact in which they differ, with both values:
// experiment, batch size, a fact of the work, of the protocol, scope, what the interval includes,
// how samples were taken, what they cover, where inputs are copied.
// "not applicable" as the value of a fact equals any value: a peer has no table of choices.
std::string why_no_ratio(const Record& record_a, const ArmRecord& a, const Record& record_b,
                         const ArmRecord& b);

// Empty: two lists of facts say the same, and so do the hashes over them (which cover facts that
// are not shown). Else the first fact that differs, with both values. `what`: work, protocol.
std::string hashes_differ(std::string_view what, const Facts& a, const Facts& b,
                          const std::string& hash_a, const std::string& hash_b);

// Empty: both copied their inputs inside the recording, or both outside it. Else why they are not
// to be divided, although their work is equal.
std::string copies_differ(const ArmRecord& a, const ArmRecord& b);

}  // namespace stepscope
