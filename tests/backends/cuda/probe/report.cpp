// The probe's lines: in columns, each flushed, so that what was printed before a crash is seen.
// SPDX-License-Identifier: Apache-2.0
#include "tests/backends/cuda/probe/report.h"

#include <fmt/format.h>

#include <cstdio>

namespace stepscope::probe {
namespace {

void print(std::string_view part, std::string_view what, std::string_view answer, Settled settled) {
  fmt::print("{:<9} {:<76} -> {}{}\n", part, what, answer,
             settled == Settled::by_device ? "  [device]" : "");
  std::fflush(stdout);
}

[[noreturn]] void fail(std::string_view what, const Status& status) {
  throw SetUpFailed(fmt::format("{} -> {} {}", what, status.code, status.name));
}

}  // namespace

void Report::status(std::string_view what, const Status& status, Settled settled) {
  print(part_, what, fmt::format("{} {}", status.code, status.name), settled);
}

void Report::value(std::string_view what, std::string_view seen, Settled settled) {
  print(part_, what, seen, settled);
}

void Report::value(std::string_view what, long long seen, Settled settled) {
  print(part_, what, fmt::to_string(seen), settled);
}

void Report::forget(cudaError_t error) {
  if (error != cudaSuccess) {
    cudaGetLastError();
  }
}

void must(cudaError_t error, std::string_view what) {
  if (error != cudaSuccess) {
    fail(what, status_of(error));
  }
}

void must(cublasStatus_t status, std::string_view what) {
  if (status != CUBLAS_STATUS_SUCCESS) {
    fail(what, status_of(status));
  }
}

}  // namespace stepscope::probe
