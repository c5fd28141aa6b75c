// Registering and running benchmarks, and what lies ready for them.
// SPDX-License-Identifier: Apache-2.0
#include "bench/suites/suite.h"

#include <algorithm>
#include <cstdio>
#include <exception>
#include <iostream>
#include <limits>
#include <new>

#include "bench/measure/bandwidth.h"
#include "bench/measure/begin_record.h"
#include "bench/measure/environment.h"
#include "bench/measure/facts_hash.h"
#include "bench/measure/git_state.h"
#include "bench/measure/sampler.h"
#include "bench/suites/library.h"
#include "bench/suites/reporters.h"
#include "ops/base/check.h"

namespace stepscope::suites {
namespace {

// How all programs measure; the rest is a program's own.
Facts with_common_protocol(Facts protocol) {
  protocol.emplace_back("library", "Google Benchmark, manual time; all its calls of a benchmark");
  protocol.emplace_back("order", "one benchmark after the other, as the library orders them");
  protocol.emplace_back("gate", "none");
  return protocol;
}

std::string pinned() {
  const std::vector<int> cpus = read_environment().allowed_cpus;
  return cpus.size() == 1 ? fmt::format("to CPU {}", cpus.front()) : "no";
}

// Whether all that the library wrote has arrived.
bool output_arrived() {
  std::cout.flush();
  return std::cout.good() && std::fflush(stdout) == 0 && std::ferror(stdout) == 0;
}

}  // namespace

Suite::Suite(Program program, Flags flags)
    : program_(std::move(program)),
      flags_(std::move(flags)),
      head_(stepscope::begin_record(STEPSCOPE_VERSION, flags_.command)) {
  head_.environment.push_back(git_state());
  head_.protocol = with_common_protocol(program_.protocol);
  head_.protocol_hash = hash_of(head_.protocol);
  head_.status = "exploratory";
  head_.status_reason = fmt::format(
      "written by {}: one process, times of arms alone, no gate and no verdict", program_.name);
}

const Data& Suite::data_for(const Model& model) {
  const std::string key = fmt::format("{} {}", fmt::join(model.row.dims(), "x"), model.classes);
  const auto known = data_.find(key);
  if (known != data_.end()) {
    sources_[model.name] = known->second.source;
    return known->second;
  }
  Data loaded = load_fitting(flags_.data, model.name, model.features, model.classes);
  sources_[model.name] = loaded.source;
  return data_.emplace(key, std::move(loaded)).first->second;
}

void Suite::add(const std::string& name, Body body, const Settings& settings) {
  auto* const added =
      register_benchmark(name, [this, name, body = std::move(body)](benchmark::State& state) {
        run_body(name, body, state);
      });
  added->UseManualTime()->Unit(settings.unit);
  if (settings.iterations > 0) added->Iterations(settings.iterations);
}

void Suite::run_body(const std::string& name, const Body& body, benchmark::State& state) {
  running_ = name;
  ran_ = true;
  try {
    body(state);
  } catch (const std::bad_alloc&) {
    fail(state, "not enough memory");
  } catch (const std::exception& error) {
    fail(state, error.what());
  }
  // The head of the library's table is made of the first benchmark's counters, and it ends the
  // program when a later one has another.
  if (!flags_.output.has_csv()) return;
  for (const std::string& counter : program_.counters) {
    state.counters.try_emplace(counter, std::numeric_limits<double>::quiet_NaN());
  }
}

void Suite::fail(benchmark::State& state, const std::string& why) {
  failed_ = true;
  const auto note = [&](std::string text) {  // repetitions fail alike
    if (std::find(failures_.begin(), failures_.end(), text) == failures_.end()) {
      failures_.push_back(std::move(text));
    }
  };
  note(fmt::format("{}: {}", running_, why));
  try {
    drop();  // it may be what failed; what it found before stays
  } catch (const std::exception& error) {
    note(fmt::format("{}: what was measured before is lost: {}", running_, error.what()));
  }
  skip_with_error(state, why);
}

void Suite::drop() {
  const std::unique_ptr<Prepared> dropped = std::move(held_);
  if (dropped != nullptr) dropped->finish();
}

std::int64_t Suite::block_length(const std::function<std::int64_t()>& find) {
  const auto known = block_lengths_.find(running_);
  if (known != block_lengths_.end()) return known->second;
  return block_lengths_[running_] = find();
}

const MachineLimits& Suite::limits() {
  const CacheSizes caches = cache_sizes();
  if (machine_.empty()) machine_ = measure_bandwidth(timer_, {.caches = caches});
  keep_best(machine_, probe_arithmetic());
  for (const CalibrationRow& row : probe_caches(timer_, caches)) keep_best(machine_, row);
  limits_ = limits_of(machine_, caches);
  return limits_;
}

// Facts that stand above the results, whatever their format.
void Suite::add_context() const {
  const auto say = [](const std::string& name, const std::string& text) {
    benchmark::AddCustomContext(name, text);
  };
  say("stepscope", head_.version);
  say("schema", head_.schema);
  say("protocol_hash", head_.protocol_hash);
  say("threads", fmt::to_string(flags_.threads));
  say("seed", fmt::to_string(flags_.seed));
  if (!flags_.models.empty()) say("models", fmt::format("{}", fmt::join(flags_.models, ",")));
  if (flags_.models.empty()) {
    say("data", "none");
  } else {
    say("data", program_.reads_data ? flags_.data : "noise");
  }
  say("pinned", pinned());
  for (const Fact& fact : head_.environment) {
    if (fact.value || fact.name == "git_state") say(fact.name, fact.text());
  }
}

int Suite::run(int argc, char** argv) {
  benchmark::Initialize(&argc, argv);
  if (benchmark::ReportUnrecognizedArguments(argc, argv)) return 2;
  add_context();
  Reporters reporters(flags_.output);
  const std::size_t matched =
      benchmark::RunSpecifiedBenchmarks(reporters.display(), reporters.file());
  benchmark::Shutdown();
  drop();
  if (!flags_.raw.empty() && ran_) write_records();
  check(output_arrived(), Fault::io, "standard output: it took not all of the results");
  check(reporters.file_arrived(), Fault::io, "{}: it took not all of the results",
        flags_.output.file);
  if (matched == 0) return 2;
  return failed_ ? 1 : 0;
}

int run_program(const Program& program, int argc, char** argv,
                const std::function<void(Suite&)>& add_benchmarks) {
  Flags flags;
  std::vector<std::string> rest;
  if (const auto end = read_flags(program, argc, argv, flags, rest)) return end->status;
  std::vector<char*> words;
  words.reserve(rest.size() + 1);
  for (std::string& word : rest) words.push_back(word.data());
  words.push_back(nullptr);
  try {
    Suite suite(program, flags);
    add_benchmarks(suite);
    return suite.run(static_cast<int>(rest.size()), words.data());
  } catch (const std::exception& error) {
    fmt::print(stderr, "{}: {}\n", program.name, error.what());
    return 1;
  }
}

}  // namespace stepscope::suites
