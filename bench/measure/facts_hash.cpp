// Facts, sorted by name, into one hash.
// SPDX-License-Identifier: Apache-2.0
#include "bench/measure/facts_hash.h"

#include <algorithm>

#include "bench/data/sha256.h"

namespace stepscope {

std::string hash_of(const Facts& facts) {
  Facts sorted = facts;
  std::sort(sorted.begin(), sorted.end());
  Sha256 hash;
  for (const auto& [fact, value] : sorted) {
    hash.update_text(fact);
    hash.update_text(value);
  }
  return to_hex(hash.finish());
}

}  // namespace stepscope
