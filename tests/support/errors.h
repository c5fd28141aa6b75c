// The message of an error, to be compared as a whole.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <fmt/format.h>

#include <string>

#include "ops/base/error.h"

namespace stepscope::test {

// "bad graph: MatMul: inner sizes differ, 784 and 512"; "no error" when the action throws none.
template <class Action>
std::string error_of(Action&& action) {
  try {
    action();
  } catch (const Error& error) {
    return fmt::format("{}: {}", name(error.fault()), error.what());
  }
  return "no error";
}

}  // namespace stepscope::test
