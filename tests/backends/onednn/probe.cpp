// Makes an onednn backend of so many threads and prints what came of it: for limits of a process.
// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <cstdlib>

#include "backends/onednn/onednn.h"
#include "ops/base/error.h"

int main(int, char** arguments) {
  try {
    const auto backend =
        stepscope::onednn::make_backend({.threads = std::atoi(arguments[1]), .tune_file = {}});
    fmt::print("{} threads\n", backend->info().threads);
  } catch (const stepscope::Error& error) {
    fmt::print("{}: {}\n", name(error.fault()), error.what());
  }
}
