// Environment: facts of the machine and the build, for the record. What cannot be found out is said
// to be so, with the reason; nothing here throws for it. No name of the machine or its user is
// read. docs/record.md says what each fact is.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "bench/measure/nvml.h"
#include "bench/record/samples.h"

namespace stepscope {

struct Environment {
  std::vector<Fact> facts;  // in a fixed order, always the same names

  // Some of them as numbers.
  std::vector<int> allowed_cpus;              // that this thread may run on
  std::optional<std::uint64_t> memory_bytes;  // of the machine
  std::optional<double> load_average;         // of the last minute, when it was read

  // Null when there is no fact of that name.
  const Fact* find(std::string_view name) const;
};

// Where to look; tests look elsewhere.
struct EnvironmentSources {
  std::filesystem::path root = "/";        // of proc, sys, run
  const char* const* variables = nullptr;  // "NAME=value", null at the end; null: the process's own
  std::string nvml = kNvmlLibrary;
};

Environment read_environment(const EnvironmentSources& sources = {});

// The facts alone, as records hold them.
std::vector<Fact> environment_facts(const EnvironmentSources& sources = {});

// How this thread treats numbers below the smallest normal one, which take many times as long where
// they are kept: "kept", or which of flush to zero (results) and denormals are zero (operands) is
// on.
std::string denormals_state();

// Processor time, summed over all processors since the machine started, that its host gave to
// others. Nothing where the system does not say.
std::optional<std::int64_t> steal_ns(const EnvironmentSources& sources = {});

}  // namespace stepscope
