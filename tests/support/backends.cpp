// Asking backends for kernels of a model's ops.
// SPDX-License-Identifier: Apache-2.0
#include "tests/support/backends.h"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <cstdio>
#include <set>

#include "backends/execution/program.h"
#include "graph/passes/fusion.h"
#include "ops/base/error.h"

namespace stepscope::test {
namespace {

constexpr std::int64_t kRows = 2;

// On stderr: stdout is read for the names of the cases.
void say_once(const std::string& text) {
  static std::set<std::string> said;
  if (said.insert(text).second) fmt::print(stderr, "{}\n", text);
}

void lower_all(Backend& backend, const Graph& described) {
  const Graph graph =
      run_passes(described, passes_for(parse_fusion("off"), backend.wishes())).graph;
  for (std::size_t i = 0; i < graph.ops().size(); ++i) {
    static_cast<void>(backend.lower(site_of(graph, i)));
  }
}

bool runs(Backend& backend, const Model& model) {
  try {
    lower_all(backend, model.step(kRows));
    if (model.has_loss()) lower_all(backend, model.evaluation(kRows));
    return true;
  } catch (const Error& error) {
    if (error.fault() != Fault::unsupported) throw;
    say_once(fmt::format("left out of tests of {}: {}", model.name, error.what()));
    return false;
  }
}

}  // namespace

std::vector<std::string> backends_that_run(const Registry& registry, const Model& model) {
  std::vector<std::string> names = registry.available();
  std::erase_if(names, [&](const std::string& name) {
    return !runs(*registry.make(name, {.threads = 1}), model);
  });
  return names;
}

std::vector<std::string> backends_that_run(const Registry& registry,
                                           const std::vector<std::string>& models) {
  std::vector<std::string> names = registry.available();
  for (const std::string& model : models) {
    const std::vector<std::string> these = backends_that_run(registry, make_model(model));
    std::erase_if(names, [&](const std::string& name) { return !std::ranges::count(these, name); });
  }
  return names;
}

std::string case_name(std::string_view text) {
  std::string name(text);
  std::replace_if(
      name.begin(), name.end(), [](unsigned char c) { return std::isalnum(c) == 0; }, '_');
  return name;
}

}  // namespace stepscope::test
