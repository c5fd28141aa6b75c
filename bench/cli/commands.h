// The commands. Each takes resolved options, prints to standard output and returns the exit status.
// Mistakes in flags throw UsageError, failures throw Error.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "bench/cli/options.h"
#include "bench/files/files.h"
#include "bench/record/record.h"

namespace stepscope::cli {

// What a command may use.
struct Context {
  const Registry& registry;
  std::string command_line;            // as given; recorded
  std::vector<std::string> arguments;  // the same, word by word, the name of the program first
  std::string program;                 // its name: what its messages begin with
};

// compare's status when arms did unequal work: a failure, with a record that tells which.
inline constexpr int kUnequalWork = 1;
// compare's status for --fail-on slower: the record tells which.
inline constexpr int kSlower = 1;

int run_compare(const Options& options, const Context& context);
int run_train(const Options& options, const Context& context);
int run_report(const Options& options, const Context& context);
int run_devices(const Context& context);
int run_lab(const Options& options, const Context& context);
int run_explain(const Options& options, const Context& context);

// A record with version, command line, time and environment filled in.
Record begin_record(const Context& context);
// Writes the record where --out and --json ask for it, with a report of it into --out; says where
// on standard error. All files of --out, or none: `more` are among them. A report that cannot be
// made is a failure, behind the writing of what was measured, and one of another run there goes.
void deliver(const Record& record, const Flags& flags, std::vector<FileContent> more = {});
// The record alone, where --json says.
void write_json(const Record& record, const Flags& flags);
// Before any work: each file that the flags ask for can be written, no two are one, and none is a
// file that is read. `out`: names of those in --out. Throws UsageError, or io with the path and the
// reason.
void check_outputs(const Flags& flags, const std::vector<std::filesystem::path>& out);
void check_outputs(const Flags& flags);  // record and report
// The record that --baseline names: a wrong one is wrong usage.
Record read_baseline(const std::string& file);
// Whether standard output is reserved for the record.
bool json_on_stdout(const Flags& flags);

// Data as --data says, made to fit the model. Throws what load_data throws.
Data data_for(const Options& options);

}  // namespace stepscope::cli
