// Reading a CLI11 app.
// SPDX-License-Identifier: Apache-2.0
#include "bench/cli/command_text.h"

#include <CLI/CLI.hpp>
#include <algorithm>

#include "backends/execution/executor.h"
#include "bench/cli/completion.h"
#include "bench/data/batches.h"
#include "graph/passes/fusion.h"
#include "ops/base/error.h"
#include "ops/models/model.h"

namespace stepscope::cli {
namespace {

// Those of the words that `parse` takes: what a flag may be given is its parser's to say.
template <class Parse>
std::vector<std::string> taken(std::vector<std::string> words, Parse parse) {
  const auto refused = [&](const std::string& word) {
    try {
      parse(word);
      return false;
    } catch (const Error&) {
      return true;
    }
  };
  words.erase(std::remove_if(words.begin(), words.end(), refused), words.end());
  return words;
}

std::vector<std::string> model_words() {
  std::vector<std::string> words;
  for (const CatalogEntry& entry : catalog()) words.emplace_back(entry.name);
  return words;
}

// Passes to run and, behind a dash, to leave out.
std::vector<std::string> fusion_words() {
  std::vector<std::string> words = {"on", "off"};
  for (const std::string& pass : fusion_names()) words.push_back(pass);
  for (const std::string& pass : fusion_names()) words.push_back(fmt::format("-{}", pass));
  return words;
}

std::vector<std::string> words_for(const std::string& flag, const Registry& registry) {
  if (flag == "--model") return model_words();
  if (flag == "--backend") return registry.names();
  if (flag == "--mode") return taken({"eager", "planned", "graph"}, mode_from);
  if (flag == "--fusion") return fusion_words();
  if (flag == "--optimizer") return taken({"sgd", "momentum", "adam"}, optimizer_kind);
  if (flag == "--partial") {
    return taken({"drop", "second_plan", "pad_masked"}, parse_partial_batch);
  }
  if (flag == "--data") return {"fashion-mnist", "generated"};
  if (flag == "--format") return {"text", "dot"};
  return {};
}

// A flag that takes text and has no list of words takes a file or a folder.
Completes completes(const FlagText& flag, const std::string& type) {
  if (!flag.takes_value) return Completes::nothing;
  if (flag.name == "--model" || flag.name == "--data") return Completes::words_and_files;
  if (!flag.words.empty()) return Completes::words;
  if (flag.name == "--out") return Completes::folders;
  return type == "TEXT" && flag.name != "--budget" ? Completes::files : Completes::nothing;
}

FlagText flag_text(const CLI::Option& option, const Registry& registry) {
  FlagText flag;
  flag.name = fmt::format("--{}", option.get_lnames().front());
  if (!option.get_snames().empty()) flag.brief = fmt::format("-{}", option.get_snames().front());
  flag.description = option.get_description();
  flag.usual = option.get_default_str();
  if (flag.usual.size() > 2 && flag.usual.front() == '[' && flag.usual.back() == ']') {
    flag.usual = flag.usual.substr(1, flag.usual.size() - 2);  // a list, as it is typed
  }
  flag.takes_value = option.get_items_expected_max() > 0;
  flag.words = words_for(flag.name, registry);
  flag.completes = completes(flag, option.get_type_name());
  return flag;
}

std::vector<FlagText> flags_of(const CLI::App& app, const Registry& registry) {
  std::vector<FlagText> flags;
  for (const CLI::Option* option : app.get_options([](const CLI::Option* each) {
         return !each->get_group().empty() && !each->get_lnames().empty();
       })) {
    flags.push_back(flag_text(*option, registry));
  }
  return flags;
}

// `Example:` and lines indented by two.
std::vector<std::string> examples_of(const std::string& footer) {
  std::vector<std::string> lines;
  std::size_t first = footer.find('\n');
  while (first != std::string::npos && first + 1 < footer.size()) {
    const std::size_t last = footer.find('\n', first + 1);
    std::string line =
        footer.substr(first + 1, last == std::string::npos ? last : last - first - 1);
    line.erase(0, line.find_first_not_of(' '));
    if (!line.empty()) lines.push_back(std::move(line));
    first = last;
  }
  return lines;
}

}  // namespace

ProgramText describe(const CLI::App& app, const Registry& registry) {
  ProgramText text{app.get_name(), app.get_description(), flags_of(app, registry), {}};
  for (const CLI::App* command : app.get_subcommands([](const CLI::App*) { return true; })) {
    text.commands.push_back({command->get_name(),
                             command->get_description(),
                             examples_of(command->get_footer()),
                             flags_of(*command, registry),
                             {}});
    if (command->get_name() == kCompletionCommand) {
      text.commands.back().operands.assign(std::begin(kShells), std::end(kShells));
    }
  }
  return text;
}

}  // namespace stepscope::cli
