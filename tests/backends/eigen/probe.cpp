// Makes an eigen backend of so many threads and prints what came of it: for limits of a process.
// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <cstdlib>

#include "backends/eigen/eigen.h"
#include "ops/base/error.h"

int main(int, char** arguments) {
  try {
    const auto backend = stepscope::eigen::make_backend({.threads = std::atoi(arguments[1])});
    fmt::print("{} threads\n", backend->info().threads);
  } catch (const stepscope::Error& error) {
    fmt::print("{}: {}\n", name(error.fault()), error.what());
  }
}
