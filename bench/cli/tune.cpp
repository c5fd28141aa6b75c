// Asking backends to time their choices.
// SPDX-License-Identifier: Apache-2.0
#include "bench/cli/tune.h"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>

#include "backends/execution/program.h"
#include "bench/data/sha256.h"
#include "bench/files/files.h"
#include "ops/base/check.h"

namespace stepscope::cli {
namespace {

// Every choice of passes that an arm may have.
std::vector<FusionChoice> fusions_of(const Options& options) {
  std::vector<FusionChoice> fusions = options.fusions;
  if (!options.flags.ablate) return fusions;
  fusions = {FusionChoice{}, parse_fusion("on")};
  for (const std::string& pass : fusion_names()) fusions.push_back(parse_fusion("-" + pass));
  return fusions;
}

std::vector<OpSite> sites_of(std::span<const Graph> steps, const std::vector<FusionChoice>& fusions,
                             const Wishes& wishes) {
  std::vector<OpSite> sites;
  for (const Graph& step : steps) {
    for (const FusionChoice& fusion : fusions) {
      const Graph graph = run_passes(step, passes_for(fusion, wishes)).graph;
      for (std::size_t i = 0; i < graph.ops().size(); ++i) {
        OpSite site = site_of(graph, i);
        if (std::find(sites.begin(), sites.end(), site) != sites.end()) continue;
        sites.push_back(std::move(site));
      }
    }
  }
  return sites;
}

// Whether the backend wrote the file.
bool wrote_choices(const Options& options, const Registry& registry, const std::string& name,
                   std::span<const Graph> steps) {
  const std::string& file = options.flags.tune;
  BackendOptions made_with = backend_options(options);
  made_with.tune_file.clear();  // there is none yet
  const std::unique_ptr<Backend> backend = registry.make(name, made_with);
  const std::vector<OpSite> sites = sites_of(steps, fusions_of(options), backend->wishes());
  try {
    fmt::print(stderr, "tune: {}: timing its choices for {} kinds of calls, once, into {}\n", name,
               sites.size(), file);
    backend->tune(sites, file);
  } catch (const Error& error) {
    if (error.fault() != Fault::unsupported) throw;
    fmt::print(stderr, "tune: {}\n", error.what());
    return false;
  }
  check(std::filesystem::exists(file), Fault::io, "tune: {} did not write {}", name, file);
  return true;
}

}  // namespace

void make_choices(const Options& options, const Registry& registry, std::span<const Graph> steps) {
  const Flags& flags = options.flags;
  if (flags.tune.empty() || std::filesystem::exists(flags.tune)) return;
  for (const std::string& backend : flags.backends) {
    if (wrote_choices(options, registry, backend, steps)) return;
  }
  fail(Fault::unsupported, "--tune {}: there is no such file, and {} has no choices to time",
       flags.tune, fmt::join(flags.backends, " or "));
}

std::string choices_file(const Options& options) { return options.flags.tune; }

std::string choices_digest(const Options& options) {
  if (options.flags.tune.empty()) return {};
  return sha256_of(read_file(options.flags.tune));
}

}  // namespace stepscope::cli
