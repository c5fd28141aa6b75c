// Reading what nm prints.
// SPDX-License-Identifier: Apache-2.0
#include "tests/backends/cpu/weak_symbols.h"

#include <fmt/format.h>

#include <cstdio>
#include <fstream>
#include <memory>
#include <utility>

namespace stepscope::test {
namespace {

void append_output_of(const std::string& command, std::vector<std::string>& lines) {
  const std::unique_ptr<FILE, int (*)(FILE*)> pipe(popen(command.c_str(), "r"), pclose);
  char buffer[4096];
  std::string line;
  while (pipe != nullptr && std::fgets(buffer, sizeof buffer, pipe.get()) != nullptr) {
    line += buffer;
    if (line.back() != '\n') continue;
    line.pop_back();
    lines.push_back(std::exchange(line, {}));
  }
}

}  // namespace

bool is_weak(std::string_view line) {
  return line.size() > 18 && line[16] == ' ' && line[18] == ' ' &&
         std::string_view("WVu").find(line[17]) != std::string_view::npos;
}

bool is_harmless(std::string_view line) {
  return line.ends_with(" DW.ref.__gxx_personality_v0") ||
         line.ends_with(" __clang_call_terminate");
}

std::vector<std::string> symbols_of(const std::string& nm, const std::string& list_of_objects) {
  std::ifstream list(list_of_objects);
  std::vector<std::string> lines;
  for (std::string object; std::getline(list, object);) {
    append_output_of(fmt::format("'{}' -C '{}'", nm, object), lines);
  }
  return lines;
}

}  // namespace stepscope::test
