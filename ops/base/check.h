// check(condition, fault, format, ...): the only way a cold path throws.
// Stays in release builds; the condition is evaluated once, the message only on failure.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <fmt/format.h>

#include <utility>

#include "ops/base/error.h"

namespace stepscope {

template <class... Args>
[[noreturn]] void fail(Fault fault, fmt::format_string<Args...> format, Args&&... args) {
  throw Error(fault, fmt::format(format, std::forward<Args>(args)...));
}

template <class... Args>
void check(bool condition, Fault fault, fmt::format_string<Args...> format, Args&&... args) {
  if (!condition) [[unlikely]] {
    fail(fault, format, std::forward<Args>(args)...);
  }
}

}  // namespace stepscope
