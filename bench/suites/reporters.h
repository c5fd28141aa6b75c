// Reporters: the library's own writers of results, with two of their gaps closed.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <benchmark/benchmark.h>

#include <memory>

#include "bench/suites/flags.h"

namespace stepscope::suites {

class Reporters {
 public:
  explicit Reporters(const Output& output);

  // For RunSpecifiedBenchmarks; null: the library makes its own.
  benchmark::BenchmarkReporter* display() { return display_.get(); }
  benchmark::BenchmarkReporter* file() { return file_.get(); }

  // Whether the file took all that was written to it; the library does not look.
  bool file_arrived() const { return file_arrived_; }

 private:
  std::unique_ptr<benchmark::BenchmarkReporter> display_, file_;
  bool file_arrived_ = true;
};

}  // namespace stepscope::suites
