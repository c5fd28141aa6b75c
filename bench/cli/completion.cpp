// Completion for bash, zsh and fish.
// SPDX-License-Identifier: Apache-2.0
#include "bench/cli/completion.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <CLI/CLI.hpp>
#include <cstdio>
#include <map>

#include "bench/cli/options.h"
#include "ops/base/nearest.h"

namespace stepscope::cli {
namespace {

std::vector<std::string> names_of(const std::vector<FlagText>& flags) {
  std::vector<std::string> names;
  for (const FlagText& flag : flags) {
    names.push_back(flag.name);
    if (!flag.brief.empty()) names.push_back(flag.brief);
  }
  return names;
}

std::vector<std::string> names_of(const std::vector<CommandText>& commands) {
  std::vector<std::string> names;
  for (const CommandText& command : commands) names.push_back(command.name);
  return names;
}

// Flags that take a value, in the order to be looked through: of a command that takes other words
// with a name than the first command does, as `report:--format`; then each once, as `*:--format`.
std::vector<std::pair<std::string, FlagText>> flags_with_values(const ProgramText& program) {
  std::map<std::string, FlagText> usual;
  std::vector<std::pair<std::string, FlagText>> flags;
  for (const CommandText& command : program.commands) {
    for (const FlagText& flag : command.flags) {
      if (!flag.takes_value) continue;
      const auto [first, fresh] = usual.emplace(flag.name, flag);
      if (fresh || first->second.words == flag.words) continue;
      flags.emplace_back(fmt::format("{}:{}", command.name, flag.name), flag);
    }
  }
  for (const auto& [name, flag] : usual) flags.emplace_back(fmt::format("*:{}", name), flag);
  return flags;
}

bool has_files(const FlagText& flag) {
  return flag.completes == Completes::files || flag.completes == Completes::words_and_files;
}

// Within single quotes of a shell.
std::string in_quotes(const std::string& text) {
  std::string made;
  for (const char c : text) made += c == '\'' ? std::string("'\\''") : std::string(1, c);
  return fmt::format("'{}'", made);
}

// The same within single quotes of fish, which knows \' and \\ there.
std::string in_fish_quotes(const std::string& text) {
  std::string made;
  for (const char c : text) {
    if (c == '\'' || c == '\\') made += '\\';
    made += c;
  }
  return fmt::format("'{}'", made);
}

// Marks what _arguments would read as its own: brackets and colons.
std::string zsh_escaped(const std::string& text) {
  std::string made;
  for (const char c : text) {
    if (c == '[' || c == ']' || c == ':' || c == '\\') made += '\\';
    made += c;
  }
  return made;
}

constexpr const char* kBashEnd = R"(
  if [[ $wants == *words* ]]; then
    # Values may be a list: what stands before the last comma stays.
    [[ $current != *,* ]] || head=${current%,*},
    COMPREPLY=($(compgen -P "$head" -W "$words" -- "${current##*,}"))
  fi
  # One name a line: a name may hold blanks.
  if [[ $wants == *folders* ]]; then
    mapfile -t -O ${#COMPREPLY[@]} COMPREPLY < <(compgen -d -- "$current")
  fi
  if [[ $wants == *files* ]]; then
    mapfile -t -O ${#COMPREPLY[@]} COMPREPLY < <(compgen -f -- "$current")
  fi
  [[ $wants != *fi* && $wants != *fo* ]] || compopt -o filenames 2>/dev/null
}
complete -F _stepscope stepscope
)";

std::string bash_wants(const FlagText& flag) {
  switch (flag.completes) {
    case Completes::nothing:
      return "wants=nothing";
    case Completes::words:
      return fmt::format("wants=words words={}",
                         in_quotes(fmt::format("{}", fmt::join(flag.words, " "))));
    case Completes::files:
      return "wants=files";
    case Completes::folders:
      return "wants=folders";
    case Completes::words_and_files:
      return fmt::format("wants='words files' words={}",
                         in_quotes(fmt::format("{}", fmt::join(flag.words, " "))));
  }
  return "wants=nothing";
}

// Behind a blank an action is called as it stands: else _arguments puts options behind its first
// word, which _alternative does not take.
std::string zsh_action(const FlagText& flag) {
  switch (flag.completes) {
    case Completes::nothing:
      return " ";
    case Completes::words:
      return fmt::format("_values -s , value {}", fmt::join(flag.words, " "));
    case Completes::files:
      return "_files";
    case Completes::folders:
      return "_files -/";
    case Completes::words_and_files:
      return fmt::format(R"x( _alternative "words\:word\:({})" "files\:file\:_files")x",
                         fmt::join(flag.words, " "));
  }
  return " ";
}

std::string zsh_argument(const FlagText& flag) {
  std::string spec = fmt::format("{}[{}]", flag.name, zsh_escaped(flag.description));
  // `*`: may be given again, as --fusion may.
  if (flag.takes_value) {
    spec = fmt::format("*{}:{}:{}", spec, flag.name.substr(2), zsh_action(flag));
  }
  return in_quotes(spec);
}

}  // namespace

std::string bash_completion(const ProgramText& program) {
  std::string text = fmt::format(
      "# bash completion of {0}, made by `{0} completion bash`.\n"
      "_stepscope() {{\n"
      "  local current=${{COMP_WORDS[COMP_CWORD]}} before=${{COMP_WORDS[COMP_CWORD - 1]}}\n"
      "  local command='' words='' wants=words head='' i\n"
      "  COMPREPLY=()\n"
      "  for ((i = 1; i < COMP_CWORD; ++i)); do\n"
      "    [[ ${{COMP_WORDS[i]}} == -* ]] || {{ command=${{COMP_WORDS[i]}}; break; }}\n"
      "  done\n"
      "  # --flag=value arrives as three words.\n"
      "  if [[ $current == = ]]; then\n"
      "    current=''\n"
      "  elif [[ $before == = && COMP_CWORD -gt 1 ]]; then\n"
      "    before=${{COMP_WORDS[COMP_CWORD - 2]}}\n"
      "  fi\n"
      "  case $command in\n",
      program.name);
  text += fmt::format("    '') words={} ;;\n",
                      in_quotes(fmt::format("{} {}", fmt::join(names_of(program.commands), " "),
                                            fmt::join(names_of(program.flags), " "))));
  for (const CommandText& command : program.commands) {
    std::vector<std::string> words = command.operands;
    for (const std::string& flag : names_of(command.flags)) words.push_back(flag);
    text += fmt::format("    {}) words={}{} ;;\n", command.name,
                        in_quotes(fmt::format("{}", fmt::join(words, " "))),
                        command.files.empty() ? "" : " wants='words files'");
  }
  text += "  esac\n  case $command:$before in\n";
  for (const auto& [name, flag] : flags_with_values(program)) {
    text += fmt::format("    {}) {} ;;\n", name, bash_wants(flag));
  }
  return text + "  esac" + kBashEnd;
}

std::string zsh_completion(const ProgramText& program) {
  std::string text = fmt::format(
      "#compdef {0}\n# zsh completion of {0}, made by `{0} completion zsh`.\n"
      "_stepscope() {{\n  local context state line\n  local -a commands\n  commands=(\n",
      program.name);
  for (const CommandText& command : program.commands) {
    text += fmt::format(
        "    {}\n", in_quotes(fmt::format("{}:{}", command.name, zsh_escaped(command.summary))));
  }
  text += "  )\n  _arguments -C \\\n";
  for (const FlagText& flag : program.flags) {
    text += fmt::format("    {} \\\n", zsh_argument(flag));
  }
  text +=
      "    '1: :->command' '*:: :->rest'\n  case $state in\n"
      "    command) _describe -t commands command commands ;;\n"
      "    rest)\n      case $words[1] in\n";
  for (const CommandText& command : program.commands) {
    text += fmt::format("        {}) _arguments", command.name);
    for (const FlagText& flag : command.flags) {
      text += fmt::format(" \\\n          {}", zsh_argument(flag));
    }
    if (!command.operands.empty()) {
      text += fmt::format(" \\\n          '1:word:({})'", fmt::join(command.operands, " "));
    }
    if (!command.files.empty()) text += " \\\n          '*:record:_files'";
    text += " ;;\n";
  }
  // As a file of fpath the body is what is called; sourced, it only registers itself.
  return text +
         "      esac ;;\n  esac\n}\n"
         "if [[ $funcstack[1] == _stepscope ]]; then\n  _stepscope \"$@\"\nelse\n"
         "  compdef _stepscope stepscope\nfi\n";
}

// Values may be a list: what stands before the last comma stays.
constexpr const char* kFishWords = R"(
function __stepscope_words
  set -l head (string replace -r -- '^--[^=]*=' '' (commandline -ct) | string match -r -- '.*,')
  for word in $argv
    printf '%s\n' "$head$word"
  end
end
)";

std::string fish_completion(const ProgramText& program) {
  std::string text =
      fmt::format("# fish completion of {0}, made by `{0} completion fish`.\n", program.name);
  text += kFishWords;
  text += fmt::format("complete -c {} -f\n", program.name);
  const auto line = [&](const std::string& when, const FlagText& flag) {
    text += fmt::format("complete -c {} -n {} -l {}", program.name, in_quotes(when),
                        flag.name.substr(2));
    if (!flag.brief.empty()) text += fmt::format(" -s {}", flag.brief.substr(1));
    if (flag.takes_value) text += has_files(flag) ? " -r -F" : " -x";
    if (!flag.words.empty()) {
      text += fmt::format(" -a '(__stepscope_words {})'", fmt::join(flag.words, " "));
    }
    if (flag.completes == Completes::folders) text += " -a '(__fish_complete_directories)'";
    text += fmt::format(" -d {}\n", in_fish_quotes(flag.description));
  };
  for (const FlagText& flag : program.flags) line("__fish_use_subcommand", flag);
  for (const CommandText& command : program.commands) {
    text += fmt::format("complete -c {} -n __fish_use_subcommand -a {} -d {}\n", program.name,
                        command.name, in_fish_quotes(command.summary));
    const std::string within = fmt::format("__fish_seen_subcommand_from {}", command.name);
    for (const FlagText& flag : command.flags) line(within, flag);
    if (!command.operands.empty()) {
      text += fmt::format("complete -c {} -n {} -a {}\n", program.name, in_quotes(within),
                          in_quotes(fmt::format("{}", fmt::join(command.operands, " "))));
    }
    if (!command.files.empty()) {
      text += fmt::format("complete -c {} -n {} -F\n", program.name, in_quotes(within));
    }
  }
  return text;
}

std::string completion_script(const ProgramText& program, std::string_view shell) {
  if (shell == "bash") return bash_completion(program);
  if (shell == "zsh") return zsh_completion(program);
  if (shell == "fish") return fish_completion(program);
  throw UsageError(unknown_name("shell", shell,
                                std::vector<std::string>(std::begin(kShells), std::end(kShells))));
}

void add_text_commands(CLI::App& app, TextCommands& commands) {
  commands.completion = app.add_subcommand(
      std::string(kCompletionCommand), "print what a shell needs to complete commands and flags");
  commands.completion->footer(
      "Example:\n  stepscope completion bash > "
      "~/.local/share/bash-completion/completions/stepscope\n"
      "  source <(stepscope completion bash)\n");
  commands.completion->add_option("shell", commands.shell, "bash, zsh or fish")->required();
  commands.manual =
      app.add_subcommand(std::string(kManualCommand), "print the manual page, as man reads it");
  commands.manual->footer("Example:\n  stepscope manual | man -l -\n");
}

bool run_text_command(const CLI::App& app, const TextCommands& commands, const Registry& registry) {
  if (!commands.completion->parsed() && !commands.manual->parsed()) return false;
  const ProgramText program = describe(app, registry);
  fmt::print("{}", commands.manual->parsed() ? manual_page(program, STEPSCOPE_VERSION)
                                             : completion_script(program, commands.shell));
  return true;
}

}  // namespace stepscope::cli
