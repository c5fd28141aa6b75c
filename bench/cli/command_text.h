// The command line as text: commands, flags and what a flag may be given, taken from the CLI11 app
// itself, so that completion scripts and the manual page know every flag there is.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "backends/registry/registry.h"

namespace CLI {
class App;
}

namespace stepscope::cli {

inline constexpr std::string_view kFormats[] = {"text", "ir", "dot",
                                                "dot-recording"};  // of explain

enum class Completes : std::uint8_t { nothing, words, files, folders, words_and_files };

struct FlagText {
  std::string name;   // --model
  std::string brief;  // -h, or empty
  std::string description;
  std::string usual;  // default, or empty
  bool takes_value = false;
  Completes completes = Completes::nothing;
  std::vector<std::string> words;  // what it may be given, where that is a list
};

struct CommandText {
  std::string name, summary;
  std::vector<std::string> examples;  // lines, as the footer of its --help has them
  std::vector<FlagText> flags;
  std::vector<std::string> operands;  // words that may follow the command
  std::string files;                  // what files that follow it are; empty: none may
};

struct ProgramText {
  std::string name, summary;
  std::vector<FlagText> flags;
  std::vector<CommandText> commands;
};

ProgramText describe(const CLI::App& app, const Registry& registry);

}  // namespace stepscope::cli
