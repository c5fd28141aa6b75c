// The one exception type of stepscope, and the five faults it can carry.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <stdexcept>
#include <string>
#include <string_view>

namespace stepscope {

// What kind of thing went wrong; callers branch on this, people read the message.
enum class Fault {
  bad_graph,    // the description of the step is wrong: shapes, roles, order
  bad_input,    // data, a name or a number that a user gave is wrong
  unsupported,  // right, but this backend, mode or build cannot do it; the message says why
  device,       // a library, a driver or the machine failed
  io,           // a file could not be read or written
};

std::string_view name(Fault fault);

// Thrown on cold paths only. The message is one line: who, what, with the numbers, what to do.
class Error : public std::runtime_error {
 public:
  Error(Fault fault, const std::string& message) : std::runtime_error(message), fault_(fault) {}
  Fault fault() const { return fault_; }

 private:
  Fault fault_;
};

}  // namespace stepscope
