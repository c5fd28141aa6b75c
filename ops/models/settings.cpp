// Parsing of model settings.
// SPDX-License-Identifier: Apache-2.0
#include "ops/models/settings.h"

#include <charconv>
#include <limits>

#include "ops/base/check.h"

namespace stepscope {

std::vector<std::int64_t> parse_sizes(std::string_view text, char separator,
                                      std::string_view spec) {
  constexpr std::int64_t kLargest = std::numeric_limits<std::int32_t>::max();
  std::vector<std::int64_t> sizes;
  while (true) {
    const std::string_view part = text.substr(0, text.find(separator));
    std::int64_t size = 0;
    const auto [end, error] = std::from_chars(part.data(), part.data() + part.size(), size);
    check(error == std::errc() && end == part.data() + part.size() && size >= 1 && size <= kLargest,
          Fault::bad_input, "model '{}': '{}' is no whole number from 1 to {}", spec, part,
          kLargest);
    sizes.push_back(size);
    if (part.size() == text.size()) return sizes;
    text.remove_prefix(part.size() + 1);
  }
}

void add_optimizer_states(std::vector<Initial>& all, const OptimizerSpec& optimizer) {
  const std::size_t parameters = all.size();
  for (std::size_t i = 0; i < parameters; ++i) {
    for (std::string& state : state_names(optimizer.kind, all[i].name)) {
      all.push_back({.name = std::move(state)});
    }
  }
  all.push_back({.name = std::string(kLearningRate), .value = optimizer.rate});
  all.push_back({.name = std::string(kStepCount)});
}

}  // namespace stepscope
