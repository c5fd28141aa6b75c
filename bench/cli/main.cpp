// The stepscope command: flags, dispatch to a command, and what is said when something fails.
// Exit status: 0 done, 1 failure, 2 wrong usage.
// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <cstring>
#include <exception>
#include <system_error>

#include "bench/cli/color.h"
#include "bench/cli/commands.h"
#include "bench/cli/completion.h"
#include "bench/cli/progress.h"
#include "ops/base/nearest.h"

namespace stepscope::cli {
namespace {

constexpr int kFailure = 1;
constexpr int kUsage = 2;

struct Command {
  const char* name;
  const char* summary;
  const char* example;
  void (*add_flags)(CLI::App&, Flags&);
  int (*run)(const Options&, const Context&);
};

void add_compare_flags(CLI::App& app, Flags& flags) {
  flags.batches = {1, 32, 256};
  add_model_flags(app, flags);
  add_backend_flags(app, flags);
  add_fusion_flags(app, flags);
  app.add_flag("--ablate", flags.ablate,
               "what each pass is worth: all passes, all but one, none; in mode graph, or those of "
               "--mode");
  add_tune_flag(app, flags);
  add_data_flags(app, flags);
  add_weights_flags(app, flags);
  add_partial_flag(app, flags);
  add_protocol_flags(app, flags);
  add_output_flags(app, flags);
  add_color_flag(app, flags);
}

void add_train_flags(CLI::App& app, Flags& flags) {
  flags.usual_modes = {"graph"};
  flags.usual_fusions = {"on"};
  add_model_flags(app, flags);
  add_backend_flags(app, flags);
  add_fusion_flags(app, flags);
  add_tune_flag(app, flags);
  add_data_flags(app, flags);
  add_weights_flags(app, flags);
  app.add_option("--epochs", flags.epochs, "passes over the training data")->capture_default_str();
  app.add_option("--steps", flags.steps, "steps of each epoch at most; 0: all of them")
      ->capture_default_str();
  add_partial_flag(app, flags);
  app.add_option("--loss-every", flags.loss_every, "steps between two read-backs of the loss")
      ->capture_default_str();
  add_loader_flags(app, flags);
  add_checkpoint_flags(app, flags);
  add_output_flags(app, flags);
}

void add_explain_flags(CLI::App& app, Flags& flags) {
  flags.usual_fusions = {"on"};
  add_model_flags(app, flags);
  add_fusion_flags(app, flags);
  add_tune_flag(app, flags);
  app.add_option("--backend", flags.backends, "whose launches to list")->capture_default_str();
  app.add_option("--threads", flags.threads, "threads of the backend")->capture_default_str();
  add_device_flags(app, flags);
  app.add_option("--format", flags.format,
                 "text; ir: the step as it runs, to be read back; dot for Graphviz; dot-recording: "
                 "the nodes of its recording")
      ->capture_default_str();
}

constexpr Command kCommands[] = {
    {"compare", "time eager, planned and graph, with fusion and without, on equal work",
     "stepscope compare --model mlp --backend eigen --batch 1,32,256 --out results/mlp\n"
     "  stepscope compare --mode graph --fusion off --fusion fold_sgd --fusion -layout\n"
     "  stepscope compare --model small_cnn --batch 32 --ablate\n"
     "  stepscope compare --backend onednn --tune results/choices.json\n"
     "  stepscope compare --batch 32 --baseline results/mlp/record.json --fail-on slower",
     add_compare_flags, run_compare},
    {"train", "train on real data, with validation behind each epoch",
     "stepscope train --model mlp --data fashion-mnist --epochs 5 --batch 32\n"
     "  stepscope train --model small_cnn --lr 0.01 --fusion off\n"
     "  stepscope train --batch 1000 --partial pad_masked --loader-workers 2\n"
     "  stepscope train --epochs 20 --checkpoint run.safetensors\n"
     "  stepscope train --epochs 20 --checkpoint run.safetensors --resume run.safetensors",
     add_train_flags, run_train},
    {"report", "make a page, Markdown and tables from records, and compare them",
     "stepscope report results/mlp/record.json\n"
     "  stepscope report results/mlp results/lenet --out results/both\n"
     "  stepscope report results/today --baseline results/before --out results/change\n"
     "  stepscope report results/mlp --format md >> $GITHUB_STEP_SUMMARY\n"
     "  stepscope compare --batch 32 --json - | stepscope report - --out results/mlp",
     add_report_flags, run_report},
    {"explain", "print the step before and after each pass, its plan and its launches",
     "stepscope explain --model mlp:784-128-10 --batch 32 --fusion epilogue,fold_sgd\n"
     "  stepscope explain --model mlp --format dot | dot -Tsvg > step.svg",
     add_explain_flags, run_explain},
    {"lab", "time single batches, work out a stream, or make generated data as files",
     "stepscope lab --report results/measure_report.json\n"
     "  stepscope lab --preset gpu-plan\n"
     "  stepscope lab --fifo --launch 0,2,3,10 --device 5,4,8,2 --stop 9\n"
     "  stepscope lab --make-data data/glyphs --seed 2\n"
     "  stepscope lab --make-data data/mnist --shape mnist --images 700",
     add_lab_flags, run_lab},
    {"devices", "list backends, their libraries, and why one is not available", "stepscope devices",
     [](CLI::App&, Flags&) {},
     [](const Options&, const Context& context) { return run_devices(context); }},
};

// What computes when nobody says: eigen, or the oracle where the build has none.
std::string preferred_backend(const Registry& registry) {
  const std::vector<std::string> names = registry.names();
  const bool eigen = std::find(names.begin(), names.end(), "eigen") != names.end();
  return eigen ? "eigen" : "reference";
}

// A message may quote a file or a flag, whatever is in it.
void say(std::string_view message) {
  fmt::print(stderr, "{}: {}\n", STEPSCOPE_PROGRAM, one_line(message));
}

int usage_error(const std::string& message) {
  say(message);
  return kUsage;
}

int run(int argc, char** argv) {
  CLI::App app("One training step, described once, run eagerly or as a graph, and measured.",
               STEPSCOPE_PROGRAM);
  app.set_version_flag("--version", STEPSCOPE_PROGRAM " " STEPSCOPE_VERSION);
  app.require_subcommand(1);
  const Registry registry = Registry::builtin();
  Flags defaults;
  defaults.backends = {preferred_backend(registry)};
  std::vector<Flags> flags(std::size(kCommands), defaults);
  std::vector<CLI::App*> apps;
  std::vector<std::string> names;
  for (std::size_t i = 0; i < std::size(kCommands); ++i) {
    CLI::App* command = app.add_subcommand(kCommands[i].name, kCommands[i].summary);
    command->footer(fmt::format("Example:\n  {}\n", kCommands[i].example));
    kCommands[i].add_flags(*command, flags[i]);
    apps.push_back(command);
    names.emplace_back(kCommands[i].name);
  }
  TextCommands text;
  add_text_commands(app, text);
  for (const std::string_view name : {kCompletionCommand, kManualCommand}) names.emplace_back(name);
  if (argc < 2) {
    fmt::print(stderr, "{}", app.help());
    return kUsage;
  }
  const std::string_view first = argv[1];
  if (!first.starts_with("-") && std::find(names.begin(), names.end(), first) == names.end()) {
    return usage_error(unknown_name("command", first, names));
  }
  try {
    app.parse(argc, argv);
  } catch (const CLI::ParseError& error) {
    if (error.get_exit_code() == 0) return app.exit(error);  // --help, --version
    return usage_error(error.what());
  }
  if (run_text_command(app, text, registry)) return 0;
  const std::vector<std::string> arguments(argv, argv + argc);
  std::string command_line = STEPSCOPE_PROGRAM;
  for (int i = 1; i < argc; ++i) command_line += fmt::format(" {}", argv[i]);
  for (std::size_t i = 0; i < apps.size(); ++i) {
    if (!apps[i]->parsed()) continue;
    return kCommands[i].run(resolve(flags[i], registry),
                            {registry, command_line, arguments, STEPSCOPE_PROGRAM});
  }
  return kUsage;
}

int lost_output(const std::string& reason) {
  fmt::print(stderr, "{}: standard output: cannot be written: {}\n", STEPSCOPE_PROGRAM, reason);
  return kFailure;
}

// What was printed may still lie in a buffer: only now a full disk shows itself.
int finish(int status) {
  errno = 0;
  if (std::fflush(stdout) == 0 && std::ferror(stdout) == 0) return status;
  return lost_output(errno != 0 ? std::strerror(errno) : "what was printed before is lost");
}

}  // namespace
}  // namespace stepscope::cli

int main(int argc, char** argv) {
  using namespace stepscope;
  cli::note_interrupts();
  try {
    return cli::finish(cli::run(argc, argv));
  } catch (const cli::UsageError& error) {
    return cli::usage_error(error.what());
  } catch (const std::system_error& error) {  // of fmt::print, when a buffer is full
    if (std::ferror(stdout) != 0) return cli::lost_output(error.code().message());
    cli::say(error.what());
    return cli::kFailure;
  } catch (const std::exception& error) {
    cli::say(error.what());
    return cli::kFailure;
  }
}
