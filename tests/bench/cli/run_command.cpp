// Child processes with their output in files.
// SPDX-License-Identifier: Apache-2.0
#include "tests/bench/cli/run_command.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include "bench/files/files.h"
#include "tests/bench/cli/keep_records.h"
#include "tests/bench/temp_folder.h"

namespace stepscope::test {

CommandResult run_stepscope(const std::vector<std::string>& arguments) {
  const TempFolder folder;
  const std::string out = (folder.path() / "out").string();
  const std::string err = (folder.path() / "err").string();
  std::vector<char*> argv{const_cast<char*>("stepscope")};
  for (const std::string& each : arguments) argv.push_back(const_cast<char*>(each.c_str()));
  argv.push_back(nullptr);
  const pid_t child = ::fork();
  if (child == 0) {
    ::dup2(::open("/dev/null", O_RDONLY), STDIN_FILENO);
    ::dup2(::open(out.c_str(), O_WRONLY | O_CREAT, 0600), STDOUT_FILENO);
    ::dup2(::open(err.c_str(), O_WRONLY | O_CREAT, 0600), STDERR_FILENO);
    ::execv(STEPSCOPE_EXECUTABLE, argv.data());
    ::_exit(127);
  }
  int status = 0;
  ::waitpid(child, &status, 0);
  CommandResult result{WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status),
                       read_file(out), read_file(err)};
  keep_records(arguments, result.out);
  return result;
}

}  // namespace stepscope::test
