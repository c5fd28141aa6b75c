// Running one kernel alone, between guard bytes: what conformance asks of a backend.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "backends/api/backend.h"

namespace stepscope::conformance {

using Bytes = std::vector<std::byte>;

struct RunOptions {
  // Of every operand and the scratch, from an aligned address; 0 elsewhere than in address tests.
  std::size_t offset = 0;
  // Moves the operands against each other as well: distance between them, in alignments.
  std::size_t gap = 1;
  int in_place = -1;           // output 0 is written over this input
  bool shared_inputs = false;  // inputs 0 and 1 are one operand; requires: they are equal
};

struct RunResult {
  std::vector<Bytes> outputs;
  // What the kernel did that it must not: guard bytes and inputs it changed.
  std::vector<std::string> damage;
  Counters counted;
};

// Launches the kernel once on a stream of its own. Outputs start as NaN patterns, those that
// overwrite an input as that input. Under AddressSanitizer the guards are poisoned meanwhile.
RunResult run_op(Backend& backend, const Kernel& kernel, const std::vector<Bytes>& inputs,
                 const RunOptions& options = {});

}  // namespace stepscope::conformance
