// Runs the stepscope executable as a user would, and tells what came out.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

namespace stepscope::test {

struct CommandResult {
  int status = -1;  // exit status; 128 + signal when a signal ended it
  std::string out, err;
};

// `arguments` behind the name of the program. Standard input is empty.
CommandResult run_stepscope(const std::vector<std::string>& arguments);

}  // namespace stepscope::test
