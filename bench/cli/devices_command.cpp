// stepscope devices: what can compute here, and why something cannot.
// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include "bench/cli/commands.h"
#include "bench/record/simulated.h"
#include "ops/base/error.h"

namespace stepscope::cli {

int run_devices(const Context& context) {
  for (const BackendEntry& entry : context.registry.entries()) {
    try {
      const std::unique_ptr<Backend> backend = entry.make({});
      const BackendInfo& info = backend->info();
      fmt::print("{:<10} available  {}\n", entry.name, info.device);
      if (info.simulated) {
        fmt::print("{:<10}            {}: {}\n", "", kSimulated, times_of_simulated({info.name}));
      }
      for (const auto& [what, value] : backend->info().details) {
        fmt::print("{:<10}            {}: {}\n", "", what, value);
      }
    } catch (const Error& error) {
      std::string_view why = error.what();
      const std::string named = fmt::format("{}: ", entry.name);
      if (why.starts_with(named)) why.remove_prefix(named.size());  // it stands in front
      fmt::print("{:<10} not available: {}\n", entry.name, why);
    }
  }
  // Named in the documentation and not part of this build.
  for (const std::string_view missing : kDocumentedBackends) {
    const std::vector<std::string> names = context.registry.names();
    if (std::find(names.begin(), names.end(), missing) != names.end()) continue;
    fmt::print("{:<10} not available: not part of this build\n", missing);
  }
  return 0;
}

}  // namespace stepscope::cli
