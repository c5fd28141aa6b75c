// Rules: what the probe does for each rule of docs/cuda-simulator.md, 1 to 36, and for cuBLASLt.
// Each runs in a process of its own, so that neither a device's fault nor a hang reaches the next.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <span>
#include <string_view>
#include <vector>

#include "tests/backends/cuda/probe/report.h"

namespace stepscope::probe {

struct Rule {
  int number;
  std::string_view title;
  void (*run)(Report& report);
};

// By family, each in its file.
std::span<const Rule> rules_of_begin_and_end();
std::span<const Rule> rules_of_waits();
std::span<const Rule> rules_of_modes();
std::span<const Rule> rules_of_forks();
std::span<const Rule> rules_of_nodes();
std::span<const Rule> rules_of_executables();
std::span<const Rule> rules_of_updates();
std::span<const Rule> rules_of_memory();
std::span<const Rule> rules_of_launches();

std::vector<Rule> all_rules();  // by number

void run_cublaslt(Report& report);
void run_driver(Report& report);

}  // namespace stepscope::probe
