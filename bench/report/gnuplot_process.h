// Running a program with a text, without a shell and not for ever.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace stepscope {

struct ProcessResult {
  int status = -1;  // exit status; -1: it did not start, or did not end by itself
  int signal = 0;   // that ended it
  bool timed_out = false;
  std::string out, err;  // `err` says why when it did not start

  bool succeeded() const { return status == 0; }
};

// The first executable file of that name on PATH, as a path; empty: none.
std::string find_program(std::string_view name);

// `command`: path of the program, then its arguments. Its standard input is `input`, from a file in
// memory, so that neither side ever waits for the other. After `timeout_ms` it is killed.
ProcessResult run_process(const std::vector<std::string>& command, std::string_view input,
                          int timeout_ms);

}  // namespace stepscope
