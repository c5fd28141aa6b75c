// stepscope lab: today, generated data as files.
// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <vector>

#include "bench/cli/commands.h"
#include "bench/cli/progress.h"
#include "bench/data/make_data.h"
#include "ops/base/check.h"

namespace stepscope::cli {

int run_lab(const Options& options, const Context&) {
  const Flags& flags = options.flags;
  if (flags.make_data.empty()) {
    throw UsageError(
        "lab: what to do? It makes data: stepscope lab --make-data DIR [--shape glyphs|mnist] "
        "[--seed N] [--images N]");
  }
  std::vector<std::filesystem::path> files;
  try {
    files = make_data(
        flags.make_data,
        {.shape = parse_data_shape(flags.data_shape), .seed = flags.seed, .images = flags.images},
        is_interrupted);
  } catch (const MakingStopped&) {
    throw Interrupted("interrupted; what was written is taken back");
  } catch (const Error& error) {
    if (error.fault() == Fault::bad_input) throw UsageError(fmt::format("lab: {}", error.what()));
    throw;
  }
  for (const std::filesystem::path& file : files) {
    fmt::print("{}: {}\n", file.string(), generated_label(flags.seed));
  }
  return 0;
}

}  // namespace stepscope::cli
