// Weak symbols of object files: what the linker keeps one copy of, whoever compiled it.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace stepscope::test {

// A line of nm: "0000000000000000 W std::max(...)"; an undefined symbol has blanks for an address.
bool is_weak(std::string_view line);

// Weak and shared, but no code that an instruction set could have touched: the address of the
// exception personality routine, and clang's one way to std::terminate().
bool is_harmless(std::string_view line);

// What `nm` prints of the objects that the file lists, a line each; demangled.
std::vector<std::string> symbols_of(const std::string& nm, const std::string& list_of_objects);

}  // namespace stepscope::test
