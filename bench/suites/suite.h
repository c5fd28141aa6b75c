// Suite: what the bench_* programs share. Their own flags, the making of benchmarks with times of
// the protocol (manual time), what lies ready between the calls of one benchmark, and the record
// that --raw writes. docs/benchmarks.md is the page.
//
// A program is a Program and a function that adds benchmarks:
//   int main(int argc, char** argv) {
//     return stepscope::suites::run_program({.name = "bench_op", ...}, argc, argv, add_all);
//   }
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <benchmark/benchmark.h>

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "backends/registry/registry.h"
#include "bench/data/load.h"
#include "bench/measure/limits.h"
#include "bench/measure/timer.h"
#include "bench/record/record.h"
#include "bench/suites/flags.h"
#include "ops/models/model.h"

namespace stepscope::suites {

inline constexpr double kNsPerSecond = 1e9;

// Until when a benchmark runs, and in which unit its time is shown.
struct Settings {
  benchmark::TimeUnit unit = benchmark::kMicrosecond;
  // So many in each repetition, whatever --benchmark_min_time says: for what takes much untimed
  // work. The library adds /iterations:N to the name. 0: until the library has its time.
  std::int64_t iterations = 0;
};

// What a benchmark wants to lie ready, untimed, in all calls that the library makes of it.
class Prepared {
 public:
  virtual ~Prepared() = default;
  // Before it is dropped: hands to the suite's record what it found.
  virtual void finish() {}
};

class Suite {
 public:
  using Body = std::function<void(benchmark::State&)>;

  // Requires: names in the flags are known.
  Suite(Program program, Flags flags);

  const Flags& flags() const { return flags_; }
  const Registry& registry() const { return registry_; }
  Timer& timer() { return timer_; }
  const Data& data_for(const Model& model);  // by --data, in the model's size; loaded once

  // A benchmark with manual time. Where `body` throws, this benchmark alone ends, with the message
  // as the library shows errors and as a note in the records, and the program's status is 1.
  void add(const std::string& name, Body body, const Settings& settings = {});

  // The T of that name, made by make() where it is not there. One lies ready at a time: sessions
  // of two benchmarks are never alive together.
  template <class T, class Make>
  T& prepared(const std::string& name, Make&& make) {
    if (held_ == nullptr || held_name_ != name) {
      drop();
      held_ = make();  // std::unique_ptr<T>
      held_name_ = name;
    }
    return static_cast<T&>(*held_);
  }

  // True at the first call for a backend: what only its first session in a process pays (a library
  // that is loaded, its first kernels, pages) is for one that nobody keeps.
  bool is_first_of(const std::string& backend) { return seen_.insert(backend).second; }

  // Calls, or steps, of a block of the running benchmark: found at its first call and kept, since
  // its repetitions must have equally many iterations.
  std::int64_t block_length(const std::function<std::int64_t()>& find);

  // What a core can do at most, by the best of all probes so far: each call probes again, the first
  // one all of it (about a second). The rows are then in every record too.
  const MachineLimits& limits();

  // Puts an arm into the record of its model (canonical name). One of that name that is there gets
  // its lists.
  void keep(const std::string& model, ArmRecord arm);
  // Puts values that are no arm's into the record: a row of `calibration` with median and
  // quartiles of all values that were kept under that name. `model` is empty where there is none.
  void keep(const std::string& model, const std::string& name, std::string_view unit,
            std::string_view note, std::span<const double> values);
  // Puts the facts of a backend that ran into the record.
  void keep(const std::string& model, const std::string& backend, const BackendInfo& info);

  // Registers nothing more, runs what the library's flags choose, writes the records. The exit
  // status of the program.
  int run(int argc, char** argv);

 private:
  struct Values {
    std::string unit, note;
    std::vector<double> values;
  };
  struct Kept {
    Record record;
    std::vector<std::pair<std::string, Values>> rows;  // in the order of coming
  };

  void run_body(const std::string& name, const Body& body, benchmark::State& state);
  void fail(benchmark::State& state, const std::string& why);
  void drop();
  void add_context() const;
  Kept& kept_of(const std::string& model);
  void complete(const std::string& model, Kept& kept);
  void write_records();

  Program program_;
  Flags flags_;
  Registry registry_ = Registry::builtin();
  SteadyTimer timer_;
  Record head_;                                 // what every record begins with
  std::map<std::string, Data> data_;            // by size and classes
  std::map<std::string, std::string> sources_;  // of data, by model; a model on noise has none
  std::vector<CalibrationRow> machine_;         // empty: not probed
  MachineLimits limits_;
  std::map<std::string, Kept> kept_;                   // by model
  std::map<std::string, std::int64_t> block_lengths_;  // by benchmark
  std::set<std::string> seen_;                         // backends
  std::string running_;                                // name of the benchmark
  std::string held_name_;
  std::unique_ptr<Prepared> held_;
  bool ran_ = false;  // some benchmark
  bool failed_ = false;
  std::vector<std::string> failures_;  // NAME: why
};

// Reads the flags, adds the benchmarks, runs them. The exit status: 2 for a wrong flag or a filter
// that matches nothing, 1 where a benchmark failed or a record could not be written.
int run_program(const Program& program, int argc, char** argv,
                const std::function<void(Suite&)>& add_benchmarks);

// One block: so many calls of what is timed, and the wait behind them.
using Block = std::function<void(std::int64_t calls)>;

// Calls that fill a millisecond, a power of two: doubled until the shortest of a few blocks is long
// enough, so that all blocks of a benchmark are about one to two times as long as needed.
std::int64_t calls_for(Timer& timer, const Block& block);

// Times blocks until the library has its time; an iteration is a call. Blocks are long enough that
// two stamps are at most 0.1 % of them; a first one is not timed. Nanoseconds per call, of each.
std::vector<double> time_blocks(benchmark::State& state, Suite& suite, const Block& block);

// fused or unfused in names of benchmarks; on or off in names of arms.
struct FusionName {
  std::string_view name;
  std::string_view choice;
};
inline constexpr FusionName kFusions[] = {{"unfused", "off"}, {"fused", "on"}};

}  // namespace stepscope::suites
