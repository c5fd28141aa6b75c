// Report: the lines that the probe prints. `rule 03  what it did  -> code NAME`.
//
// A line that ends in [device] holds what no document states: the simulator assumes it, a GPU
// settles it, and no comparison of the two counts it. The mark is of the source, so both builds
// print the same ones.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <concepts>
#include <cstdint>
#include <stdexcept>
#include <string>
#include <string_view>
#include <utility>

#include "tests/backends/cuda/probe/status.h"

namespace stepscope::probe {

enum class Settled : std::uint8_t { by_documents, by_device };

class Report {
 public:
  explicit Report(std::string part) : part_(std::move(part)) {}

  // What a call returned.
  template <class Code>
  void code(std::string_view what, Code code, Settled settled = Settled::by_documents) {
    status(what, status_of(code), settled);
    if constexpr (std::same_as<Code, cudaError_t>) {
      forget(code);
    }
  }
  template <class Code>
  void device_code(std::string_view what, Code value) {
    code(what, value, Settled::by_device);
  }

  void status(std::string_view what, const Status& status, Settled settled = Settled::by_documents);

  // What else was seen: a value that work left, a count, a state.
  void value(std::string_view what, std::string_view seen, Settled settled = Settled::by_documents);
  void value(std::string_view what, long long seen, Settled settled = Settled::by_documents);
  void device_value(std::string_view what, std::string_view seen) {
    value(what, seen, Settled::by_device);
  }

 private:
  // An error that was printed is dealt with; left alone it would be the last error of a later call.
  static void forget(cudaError_t error);

  std::string part_;
};

inline std::string_view yes(bool is) { return is ? "yes" : "no"; }

// What a part cannot go on without. The part ends with a line that says so, and the probe fails.
class SetUpFailed : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};
void must(cudaError_t error, std::string_view what);
void must(cublasStatus_t status, std::string_view what);

}  // namespace stepscope::probe
