// Declaring the own flags, and checking what they say.
// SPDX-License-Identifier: Apache-2.0
#include "bench/suites/flags.h"

#include <benchmark/benchmark.h>
#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <span>
#include <string_view>

#include "backends/registry/registry.h"
#include "bench/data/load.h"
#include "bench/files/files.h"
#include "bench/suites/library.h"
#include "ops/base/check.h"
#include "ops/base/nearest.h"
#include "ops/ir/step_file.h"
#include "ops/models/model.h"

namespace stepscope::suites {
namespace {

constexpr int kMostThreads = 1024;
constexpr std::string_view kMinTime = "--benchmark_min_time=";
constexpr std::string_view kUsualMinTime = "0.1";  // seconds; the library's own is 0.5

void declare(CLI::App& app, const Program& program, Flags& flags) {
  app.allow_extras();
  app.set_help_flag("-h,--help", "print this help, then the library's");
  if (!program.usual.models.empty()) {
    app.add_option("--model", flags.models,
                   "workloads by name, as `stepscope compare --model` takes them; no step files")
        ->delimiter(',')
        ->allow_extra_args(false)
        ->capture_default_str();
  }
  if (!program.usual.models.empty() && program.reads_data) {
    app.add_option("--data", flags.data,
                   "folder of IDX or GlyphLab files, fashion-mnist, generated, or generated:SEED")
        ->capture_default_str();
  }
  if (!program.usual.backends.empty()) {
    app.add_option("--backend", flags.backends, "who computes; see `stepscope devices`")
        ->delimiter(',')
        ->allow_extra_args(false)
        ->capture_default_str();
    app.add_option("--threads", flags.threads, "threads of the backend")->capture_default_str();
  }
  if (!program.usual.batches.empty()) {
    app.add_option("--batch", flags.batches, "rows of a step")
        ->delimiter(',')
        ->allow_extra_args(false)
        ->capture_default_str();
  }
  app.add_option("--seed", flags.seed, "of parameters, batch order and operands")
      ->capture_default_str();
  app.add_option("--raw", flags.raw,
                 "file for the raw times, a record (docs/record.md); one for each model if several "
                 "are named");
}

// Those that compute and are made for speed, where they can be made here.
std::vector<std::string> usual_backends(const Registry& registry) {
  std::vector<std::string> usual;
  for (const BackendEntry& entry : registry.entries()) {
    if (entry.name == "reference" || entry.name == "null") continue;
    try {
      entry.make({});
      usual.push_back(entry.name);
    } catch (const Error&) {
      continue;  // not here; `stepscope devices` says why
    }
  }
  return usual;
}

template <class T>
void keep_first(std::vector<T>& values) {
  std::vector<T> kept;
  for (T& value : values) {
    if (std::find(kept.begin(), kept.end(), value) == kept.end()) kept.push_back(std::move(value));
  }
  values = std::move(kept);
}

// Throws bad_input.
void check_flags(const Program& program, Flags& flags, const Registry& registry) {
  const std::vector<std::string> names = registry.names();
  for (const std::string& backend : flags.backends) {
    const bool known = std::find(names.begin(), names.end(), backend) != names.end();
    check(known, Fault::bad_input, "--backend: {}", unknown_name("backend", backend, names));
  }
  for (const std::string& model : flags.models) make_model(model);
  for (const std::int64_t batch : flags.batches) {
    check(batch >= 1 && batch <= kMostBatch, Fault::bad_input,
          "--batch: {} is not between 1 and {}", batch, kMostBatch);
  }
  check(flags.threads > 0 && flags.threads <= kMostThreads, Fault::bad_input,
        "--threads: {}, expected 1 to {}", flags.threads, kMostThreads);
  if (!flags.models.empty()) check_data_name(flags.data);
  keep_first(flags.models);
  check(!program.one_model || flags.models.size() == 1, Fault::bad_input,
        "--model: {} of them, {} takes one", flags.models.size(), program.name);
  keep_first(flags.backends);
  keep_first(flags.batches);
}

std::string said_to_library(std::span<const std::string> words, std::string_view flag,
                            const char* variable, std::string usual) {
  const char* const value = std::getenv(variable);
  std::string said = value != nullptr ? std::string(value) : std::move(usual);
  for (const std::string& word : words) {
    if (word.starts_with(flag)) said = word.substr(flag.size());
  }
  return said;
}

// Throws bad_input, where the library would end with status 1.
void check_format(std::string_view flag, std::string_view format) {
  const bool known = format == "console" || format == "json" || format == "csv";
  check(known, Fault::bad_input, "{}: '{}', expected console, json or csv", flag, format);
}

// Throws bad_input and io.
Output read_output(std::span<const std::string> words) {
  Output output;
  output.format = said_to_library(words, "--benchmark_format=", "BENCHMARK_FORMAT", output.format);
  output.file = said_to_library(words, "--benchmark_out=", "BENCHMARK_OUT", "");
  output.file_format =
      said_to_library(words, "--benchmark_out_format=", "BENCHMARK_OUT_FORMAT", output.file_format);
  check_format("--benchmark_format", output.format);
  check_format("--benchmark_out_format", output.file_format);
  if (!output.file.empty()) check_can_be_written(output.file);
  return output;
}

// Every file that the run may leave. Throws bad_input and io.
void check_raw(const Flags& flags) {
  std::vector<std::string> models = {""};
  if (!flags.models.empty()) models.clear();
  for (const std::string& model : flags.models) models.push_back(make_model(model).name);
  const auto place = [](const std::string& file) {
    std::error_code ignored;
    return std::filesystem::weakly_canonical(std::filesystem::absolute(file, ignored), ignored);
  };
  for (const std::string& model : models) {
    const std::string file = raw_file(flags, model);
    check(flags.output.file.empty() || place(file) != place(flags.output.file), Fault::bad_input,
          "--raw: {} is what --benchmark_out writes, name another file", file);
    check_can_be_written(file);
  }
}

// Both spellings work with every version of the library; whoever says nothing gets a short run.
void settle_min_time(std::vector<std::string>& rest) {
  bool given = false;
  for (std::string& word : rest) {
    if (!word.starts_with(kMinTime)) continue;
    given = true;
    const bool is_number = std::string_view("0123456789.").find(word.back()) != std::string::npos;
    if (kMinTimeHasUnit && is_number) word += 's';
    if (!kMinTimeHasUnit && word.back() == 's') word.pop_back();
  }
  if (given || std::getenv("BENCHMARK_MIN_TIME") != nullptr) return;
  rest.insert(rest.begin() + 1,
              fmt::format("{}{}{}", kMinTime, kUsualMinTime, kMinTimeHasUnit ? "s" : ""));
}

EarlyEnd wrong(const Program& program, std::string_view what) {
  fmt::print(stderr, "{}: {}\n", program.name, what);
  return {.status = 2};
}

EarlyEnd help(const Program& program, const CLI::App& app) {
  fmt::print("{}\nBenchmarks: {}\n\nExample: {} --benchmark_list_tests\n\nFlags of the library:\n",
             app.help(), program.names, program.name);
  std::fflush(stdout);
  benchmark::PrintDefaultHelp();
  return {.status = 0};
}

}  // namespace

std::string raw_file(const Flags& flags, const std::string& model) {
  if (flags.models.size() < 2 || model.empty()) return flags.raw;
  std::string text = model;
  std::replace_if(
      text.begin(), text.end(), [](char c) { return c == ':' || c == '/'; }, '-');
  const std::filesystem::path path = flags.raw;
  const std::string stem = fmt::format("{}-{}", path.stem().string(), text);
  return (path.parent_path() / (stem + path.extension().string())).string();
}

std::optional<EarlyEnd> read_flags(const Program& program, int argc, char** argv, Flags& flags,
                                   std::vector<std::string>& rest) {
  const Registry registry = Registry::builtin();
  flags = program.usual;
  if (flags.backends == std::vector<std::string>{"usual"})
    flags.backends = usual_backends(registry);
  flags.command = program.name;
  for (int i = 1; i < argc; ++i) flags.command += fmt::format(" {}", argv[i]);
  CLI::App app(program.what, program.name);
  declare(app, program, flags);
  try {
    app.parse(argc, argv);
    check_flags(program, flags, registry);
    flags.output = read_output(app.remaining());
    const bool has_raw = app.get_option("--raw")->count() > 0;
    check(!has_raw || !flags.raw.empty(), Fault::bad_input, "--raw: no name of a file");
    if (has_raw) check_raw(flags);
  } catch (const CLI::CallForHelp&) {
    return help(program, app);
  } catch (const CLI::Error& error) {
    return wrong(program, error.what());
  } catch (const Error& error) {
    return wrong(program, error.what());
  }
  rest = app.remaining();
  rest.insert(rest.begin(), program.name);
  settle_min_time(rest);
  return std::nullopt;
}

}  // namespace stepscope::suites
