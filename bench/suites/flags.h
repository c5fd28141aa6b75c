// Own flags of the bench_* programs. The library's stay as they are.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "bench/record/record.h"

namespace stepscope::suites {

// Where the library writes, by its own flags and by its variables in the environment.
struct Output {
  std::string format = "console";
  std::string file;  // empty: none
  std::string file_format = "json";

  bool has_csv() const { return format == "csv" || (!file.empty() && file_format == "csv"); }
};

struct Flags {
  std::vector<std::string> models;    // as given
  std::vector<std::string> backends;  // names of the registry
  std::vector<std::int64_t> batches;
  std::string data = "generated";
  int threads = 1;
  std::uint64_t seed = 1;
  std::string raw;  // file of the record; empty: none
  Output output;
  std::string command;  // as given
};

// What a program is: for --help and for the record.
struct Program {
  std::string name;   // bench_step
  std::string what;   // one line of --help
  std::string names;  // of its benchmarks: step/MODEL/BACKEND/MODE/FUSION/batch:N
  // What stands where a flag is not given. A list that is empty here has no flag; `backends` may
  // say "usual": those that compute, are made for speed, and are available here.
  Flags usual;
  bool one_model = false;  // its names say no model
  bool reads_data = true;  // batches of data, for models with labels; else no --data
  // Counters that some of its benchmarks have and others lack.
  std::vector<std::string> counters;
  // How it measures, for the record, beside what holds for all programs.
  Facts protocol;
};

// Why the program ends before it runs: --help (text, status 0), or a mistake (one line, status 2).
struct EarlyEnd {
  int status = 0;
};

// Takes the own flags out of the arguments; the rest stay in `rest`, the program's name first,
// with --benchmark_min_time as the installed library wants it (0.1 or 0.1s). Prints help and
// mistakes itself.
std::optional<EarlyEnd> read_flags(const Program& program, int argc, char** argv, Flags& flags,
                                   std::vector<std::string>& rest);

// The file of the record of a model (canonical name). One model, one file; of several each has its
// own beside the name that was given.
std::string raw_file(const Flags& flags, const std::string& model);

}  // namespace stepscope::suites
