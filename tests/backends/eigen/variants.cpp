// Variants by name, made once.
// SPDX-License-Identifier: Apache-2.0
#include "tests/backends/eigen/variants.h"

#include <fmt/format.h>

#include <map>
#include <memory>
#include <utility>

namespace stepscope::eigen {

std::string variant_name(const Variant& variant) {
  return fmt::format("v{}_{}threads", static_cast<int>(variant.isa) + 2, variant.threads);
}

std::vector<Variant> all_variants() {
  std::vector<Variant> variants;
  for (const Isa isa : kAllIsas) {
    for (const int threads : {1, 2}) variants.push_back({isa, threads});
  }
  return variants;
}

std::vector<Variant> runnable_isas() {
  std::vector<Variant> variants;
  for (const Isa isa : kAllIsas) {
    if (can_run(isa)) variants.push_back({isa, 1});
  }
  return variants;
}

Backend& backend_of(const Variant& variant) {
  static std::map<std::pair<Isa, int>, std::unique_ptr<Backend>> made;
  std::unique_ptr<Backend>& place = made[{variant.isa, variant.threads}];
  if (place == nullptr) place = make_backend({.threads = variant.threads}, variant.isa);
  return *place;
}

}  // namespace stepscope::eigen
