// All rules, in the order of their numbers.
// SPDX-License-Identifier: Apache-2.0
#include "tests/backends/cuda/probe/rules.h"

#include <algorithm>

namespace stepscope::probe {

std::vector<Rule> all_rules() {
  std::vector<Rule> rules;
  for (const auto& family : {rules_of_begin_and_end(), rules_of_waits(), rules_of_modes(),
                             rules_of_forks(), rules_of_nodes(), rules_of_executables(),
                             rules_of_updates(), rules_of_memory(), rules_of_launches()}) {
    rules.insert(rules.end(), family.begin(), family.end());
  }
  std::sort(rules.begin(), rules.end(),
            [](const Rule& a, const Rule& b) { return a.number < b.number; });
  return rules;
}

}  // namespace stepscope::probe
