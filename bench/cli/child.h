// Processes of a comparison: this program again, each time afresh.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

namespace stepscope::cli {

// A file that is gone when the object is.
class ScratchFile {
 public:
  ScratchFile();  // throws io
  ~ScratchFile();
  ScratchFile(const ScratchFile&) = delete;
  ScratchFile& operator=(const ScratchFile&) = delete;
  const std::string& path() const { return path_; }

 private:
  std::string path_;
};

// Runs this program with other arguments (the name first) and returns its exit status. Its standard
// error is ours, its standard output dropped. A signal that ends this process is handed on to the
// child first; then Interrupted is thrown. `who` names the child when it cannot be started, or was
// ended by a signal: throws device.
int run_child(const std::vector<std::string>& arguments, const std::string& who);

}  // namespace stepscope::cli
