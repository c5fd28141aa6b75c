// What was found slower.
// SPDX-License-Identifier: Apache-2.0
#include "bench/compare/slower.h"

#include <fmt/format.h>

#include <algorithm>

namespace stepscope {

std::vector<std::string> slower_of(const Record& record) {
  std::vector<std::string> slower;
  for (const BaselineRecord& arm : record.baseline) {
    if (arm.verdict == "SLOWER") slower.push_back(fmt::format("{} than in the baseline", arm.arm));
  }
  for (const PairRecord& pair : record.pairs) {
    const bool is = std::any_of(pair.ratios.begin(), pair.ratios.end(),
                                [](const RatioRecord& ratio) { return ratio.verdict == "SLOWER"; });
    if (pair.kind == "arm" && is) slower.push_back(fmt::format("{} than {}", pair.of, pair.base));
  }
  return slower;
}

std::vector<std::string> untold_of(const Record& record) {
  std::vector<std::string> untold;
  for (const PairRecord& pair : record.pairs) {
    const auto at =
        std::find_if(pair.ratios.begin(), pair.ratios.end(), [](const RatioRecord& ratio) {
          return ratio.verdict == "void" || ratio.verdict == "exploratory";
        });
    if (pair.kind != "arm" || at == pair.ratios.end()) continue;
    untold.push_back(fmt::format("{} over {}: {}", pair.of, pair.base, at->verdict_reason));
  }
  return untold;
}

}  // namespace stepscope
