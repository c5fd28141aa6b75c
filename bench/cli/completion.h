// Completion scripts and the manual page, written from the command line itself.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <string_view>

#include "bench/cli/command_text.h"

namespace stepscope::cli {

inline constexpr std::string_view kCompletionCommand = "completion";
inline constexpr std::string_view kManualCommand = "manual";
inline constexpr std::string_view kShells[] = {"bash", "zsh", "fish"};

// What the shell is to read. Throws UsageError for a shell that is none of these.
std::string completion_script(const ProgramText& program, std::string_view shell);
std::string bash_completion(const ProgramText& program);
std::string zsh_completion(const ProgramText& program);
std::string fish_completion(const ProgramText& program);

// The page for section 1, as `man` reads it (roff, macros of man(7)).
std::string manual_page(const ProgramText& program, std::string_view version);

// Adds the commands `completion` and `manual` to the app: run_text_command() answers whether one of
// them was given, and has printed it then.
struct TextCommands {
  CLI::App* completion = nullptr;
  CLI::App* manual = nullptr;
  std::string shell;
};
void add_text_commands(CLI::App& app, TextCommands& commands);
bool run_text_command(const CLI::App& app, const TextCommands& commands, const Registry& registry);

}  // namespace stepscope::cli
