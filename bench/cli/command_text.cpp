// Reading a CLI11 app.
// SPDX-License-Identifier: Apache-2.0
#include "bench/cli/command_text.h"

#include <CLI/CLI.hpp>
#include <initializer_list>

#include "backends/api/record_as.h"
#include "backends/execution/executor.h"
#include "bench/cli/color.h"
#include "bench/cli/completion.h"
#include "bench/cli/lab_run.h"
#include "bench/cli/options.h"
#include "bench/cli/report_files.h"
#include "bench/data/batches.h"
#include "bench/data/make_data.h"
#include "graph/passes/fusion.h"
#include "ops/models/model.h"

namespace stepscope::cli {
namespace {

// As the parsers of these flags know them.
template <class Value>
std::vector<std::string> names_of(std::initializer_list<Value> values) {
  std::vector<std::string> names;
  for (const Value value : values) names.emplace_back(name(value));
  return names;
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

template <std::size_t count>
std::vector<std::string> words_of(const std::string_view (&words)[count]) {
  return {std::begin(words), std::end(words)};
}

std::vector<std::string> words_for(const std::string& flag, const std::string& command,
                                   const Registry& registry) {
  if (flag == "--model") return model_words();
  if (flag == "--backend") return registry.names();
  if (flag == "--mode") return names_of({Mode::eager, Mode::planned, Mode::graph});
  if (flag == "--fusion") return fusion_words();
  if (flag == "--optimizer") {
    using Kind = OptimizerSpec::Kind;
    return names_of({Kind::sgd, Kind::momentum, Kind::adam});
  }
  if (flag == "--partial") {
    return names_of({PartialBatch::drop, PartialBatch::second_plan, PartialBatch::pad_masked});
  }
  if (flag == "--fail-on") return {"slower"};
  if (flag == "--preset") {
    std::vector<std::string> words;
    for (const LabPreset& preset : kLabPresets) words.emplace_back(preset.name);
    return words;
  }
  if (flag == "--shape") return names_of({DataShape::glyphs, DataShape::mnist});
  if (flag == "--data") return {"fashion-mnist", "generated"};
  if (flag == "--format") return command == "report" ? words_of(kReportForms) : words_of(kFormats);
  if (flag == "--color") return words_of(kColors);
  if (flag == "--record") return names_of({RecordAs::tape, RecordAs::capture, RecordAs::nodes});
  if (flag == "--tf32") return words_of(kSwitch);
  if (flag == "--input-copy") return names_of({InputCopy::outside, InputCopy::inside});
  return {};
}

// A flag that takes text and has no list of words takes a file or a folder.
Completes completes(const FlagText& flag, const std::string& type) {
  if (!flag.takes_value) return Completes::nothing;
  if (flag.name == "--model" || flag.name == "--data") return Completes::words_and_files;
  if (!flag.words.empty()) return Completes::words;
  if (flag.name == "--out" || flag.name == "--make-data") return Completes::folders;
  const bool free = flag.name == "--budget" || flag.name == "--schedule";
  return type == "TEXT" && !free ? Completes::files : Completes::nothing;
}

FlagText flag_text(const CLI::Option& option, const std::string& command,
                   const Registry& registry) {
  FlagText flag;
  flag.name = fmt::format("--{}", option.get_lnames().front());
  if (!option.get_snames().empty()) flag.brief = fmt::format("-{}", option.get_snames().front());
  flag.description = option.get_description();
  flag.usual = option.get_default_str();
  if (flag.usual.size() > 2 && flag.usual.front() == '[' && flag.usual.back() == ']') {
    flag.usual = flag.usual.substr(1, flag.usual.size() - 2);  // a list, as it is typed
  }
  flag.takes_value = option.get_items_expected_max() > 0;
  flag.words = words_for(flag.name, command, registry);
  flag.completes = completes(flag, option.get_type_name());
  return flag;
}

std::vector<FlagText> flags_of(const CLI::App& app, const Registry& registry) {
  std::vector<FlagText> flags;
  for (const CLI::Option* option : app.get_options([](const CLI::Option* each) {
         return !each->get_group().empty() && !each->get_lnames().empty();
       })) {
    flags.push_back(flag_text(*option, app.get_name(), registry));
  }
  return flags;
}

// What the command says of the files that may follow it.
std::string files_of(const CLI::App& command) {
  for (const CLI::Option* option :
       command.get_options([](const CLI::Option* each) { return each->get_positional(); })) {
    if (option->get_name(true) == kFilesOperand) return option->get_description();
  }
  return "";
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
                             {},
                             files_of(*command)});
    if (command->get_name() == kCompletionCommand) {
      text.commands.back().operands.assign(std::begin(kShells), std::end(kShells));
    }
  }
  return text;
}

}  // namespace stepscope::cli
