// capture_probe: what CUDA answers to each rule of docs/cuda-simulator.md, on this machine. Built
// against the simulator and against NVIDIA's libraries, from the same sources: what differs between
// their outputs is where the simulator is wrong.
//
// Exit status: 0 when all parts ran, 1 when one crashed, hung or could not be set up, 2 for a
// mistake in the arguments. What the answers are does not matter to it.
// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <charconv>
#include <chrono>
#include <cstdio>
#include <exception>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "tests/backends/cuda/probe/every_call.h"
#include "tests/backends/cuda/probe/processes.h"
#include "tests/backends/cuda/probe/rules.h"
#include "tests/backends/cuda/probe/scene.h"

namespace stepscope::probe {
namespace {

// Exit statuses, of the whole and of a part; the last is the machine's part alone.
constexpr int kRan = 0, kFailed = 1, kUsage = 2, kNoDevice = 3;

constexpr std::string_view kUsageText =
    "usage: capture_probe [--driver-only] [--limit SECONDS]\n"
    "       capture_probe --rule PART | --list\n"
    "\n"
    "  --rule PART      one part, in this process: the number of a rule, or a name from --list\n"
    "  --list           the parts; the status of `machine` is 3 where there is no device\n"
    "  --driver-only    what can be asked of any machine, and no rule\n"
    "  --limit SECONDS  of one part; 60 unless said\n";

enum class Needs { nothing, a_device, no_device };

constexpr std::string_view kMachine = "machine";

struct Part {
  std::string name, title;
  Needs needs;
  void (*run)(Report& report);
};

void run_machine(Report&) {
  int driver = 0, runtime = 0;
  cudaDriverGetVersion(&driver);
  cudaRuntimeGetVersion(&runtime);
  fmt::print("capture_probe: CUDA runtime {}, driver {}\n", runtime, driver);
  cudaDeviceProp properties{};
  const cudaError_t error = cudaGetDeviceProperties(&properties, 0);
  if (error != cudaSuccess) {
    fmt::print("device: none; cudaGetDeviceProperties -> {} {}\n", static_cast<int>(error),
               cudaGetErrorName(error));
    return;
  }
  fmt::print("device: {}, compute {}.{}\n", properties.name, properties.major, properties.minor);
}

void run_every_call(Report& report) {
  for (const auto& entries : {runtime_calls(), graph_calls(), library_calls()}) {
    for (const Entry& entry : entries) {
      report.status(entry.call, entry.make());
    }
  }
}

std::vector<Part> all_parts() {
  std::vector<Part> parts = {
      {std::string(kMachine), "versions, device", Needs::nothing, run_machine},
      {"driver", "what can be asked of any machine", Needs::nothing, run_driver},
      {"calls", "every call, where there is no device", Needs::no_device, run_every_call}};
  for (const Rule& rule : all_rules()) {
    parts.push_back(
        {fmt::format("{}", rule.number), std::string(rule.title), Needs::a_device, rule.run});
  }
  parts.push_back({"cublaslt", "a few products", Needs::a_device, run_cublaslt});
  return parts;
}

std::string label_of(const Part& part) {
  const bool is_rule = part.name.find_first_not_of("0123456789") == std::string::npos;
  return is_rule ? fmt::format("rule {:0>2}", part.name) : part.name;
}

bool device_is_there() {
  int count = 0;
  return cudaGetDeviceCount(&count) == cudaSuccess && count > 0;
}

void say_not_run(const Part& part) {
  fmt::print("{:<9} {}: not run, there is {} device\n", label_of(part), part.title,
             part.needs == Needs::a_device ? "no" : "a");
}

bool suits(const Part& part, bool device) {
  return part.needs == Needs::nothing || device == (part.needs == Needs::a_device);
}

// In this process. The machine's part and the driver's make its first call themselves.
int run_here(const Part& part) {
  if (part.needs != Needs::nothing && !suits(part, device_is_there())) {
    say_not_run(part);
    return kRan;
  }
  Report report(label_of(part));
  try {
    if (part.needs == Needs::a_device) {
      warm_up();
    }
    part.run(report);
  } catch (const SetUpFailed& failure) {
    report.value("cannot go on", failure.what());
    return kFailed;
  }
  return part.name == kMachine && !device_is_there() ? kNoDevice : kRan;
}

bool run_all(const std::vector<Part>& parts, bool driver_only, std::chrono::seconds limit) {
  bool all_ran = true, device = false;
  for (const Part& part : parts) {
    if (driver_only && part.needs == Needs::a_device) {
      continue;
    }
    if (!suits(part, device)) {
      say_not_run(part);
      std::fflush(stdout);
      continue;
    }
    const Ended ended = run_part(part.name, limit);
    if (part.name ==
        kMachine) {  // the first: whether there is a device, told by a process of its own
      device = ended.exited() && ended.status == kRan;
    }
    if (!ended.exited() || (ended.status != kRan && ended.status != kNoDevice)) {
      fmt::print("{:<9} FAILED: {}\n", label_of(part), describe(ended, limit));
      all_ran = false;
    }
    std::fflush(stdout);
  }
  return all_ran;
}

int usage_error(std::string_view message) {
  fmt::print(stderr, "capture_probe: {}\n\n{}", message, kUsageText);
  return kUsage;
}

struct Options {
  bool driver_only = false, list = false, help = false;
  std::optional<std::string> part;
  std::chrono::seconds limit{60};
  std::string mistake;  // empty: none
};

Options read(const std::vector<std::string_view>& words) {
  Options options;
  for (std::size_t index = 0; index < words.size() && options.mistake.empty(); ++index) {
    const std::string_view word = words[index];
    if (word == "--driver-only") {
      options.driver_only = true;
    } else if (word == "--list") {
      options.list = true;
    } else if (word == "--help" || word == "-h") {
      options.help = true;
    } else if (word == "--rule" && index + 1 < words.size()) {
      options.part = words[++index];
    } else if (word == "--limit" && index + 1 < words.size()) {
      const std::string_view text = words[++index];
      int seconds = 0;
      const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), seconds);
      if (error != std::errc() || end != text.data() + text.size() || seconds < 1) {
        options.mistake = fmt::format("--limit: '{}' is no number of seconds", text);
      }
      options.limit = std::chrono::seconds(seconds);
    } else {
      options.mistake = fmt::format("'{}' is no argument of it, or lacks its value", word);
    }
  }
  return options;
}

int run(const Options& options) {
  if (!options.mistake.empty()) {
    return usage_error(options.mistake);
  }
  if (options.help) {
    fmt::print("{}", kUsageText);
    return kRan;
  }
  const std::vector<Part> parts = all_parts();
  if (options.list) {
    for (const Part& part : parts) {
      fmt::print("{:<9} {}\n", part.name, part.title);
    }
    return kRan;
  }
  if (!options.part) {
    return run_all(parts, options.driver_only, options.limit) ? kRan : kFailed;
  }
  for (const Part& part : parts) {
    if (part.name == *options.part) {
      return run_here(part);
    }
  }
  return usage_error(fmt::format("there is no part '{}'; --list names them", *options.part));
}

}  // namespace
}  // namespace stepscope::probe

int main(int count, char** words) {
  return stepscope::probe::run(stepscope::probe::read({words + 1, words + count}));
}
