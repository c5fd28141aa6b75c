// TimedArm: an arm as `stepscope compare` makes it, timed by the protocol's throughput blocks
// within a benchmark.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <benchmark/benchmark.h>

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "bench/compare/arm.h"
#include "bench/data/input_ring.h"
#include "bench/measure/subject.h"
#include "bench/suites/suite.h"

namespace stepscope::suites {

struct ArmKey {
  std::string model;  // as given
  std::string backend;
  Mode mode = Mode::eager;
  std::string fusion = "off";
  std::int64_t batch = 0;
};

// What an arm stands on: the backend, the spec that decides its work, and its batches. Where the
// backend is new to the process, a first arm is made on it and dropped.
struct ArmGround {
  ArmGround(Suite& suite, const ArmKey& key);

  std::unique_ptr<Backend> backend;
  CompareSpec spec;
  InputRing ring;
};

class TimedArm final : public Prepared {
 public:
  // Makes it ready: the first step, warm-up, exact counts. Throws what its parts throw.
  TimedArm(Suite& suite, const ArmKey& key);

  // Times blocks until the library has its time, and sets the counters.
  void run(benchmark::State& state);
  void finish() override;

 private:
  void warm_up();
  void set_counters(benchmark::State& state, double time_us);

  Suite& suite_;
  ArmKey key_;
  ArmGround ground_;
  Arm arm_;
  std::vector<std::byte> start_;
  SessionSubject subject_;
  MachineLimits limits_;
  std::optional<double> allocations_;  // of a step
  Samples blocks_;
};

// Throughput blocks of `blocks.steps_per_sample` steps until the library has its time; they go to
// the end of `blocks`. Nanoseconds of all of them.
std::int64_t run_blocks(benchmark::State& state, Subject& subject, Timer& timer, Samples& blocks);
// How TimedArm times, for the record.
Facts throughput_protocol();
// Of a steady step; nothing where they are not counted (bench/suites/allocations.h). Restarts.
std::optional<double> allocations_of_step(Subject& subject);
// Counters that say what a step of the arm does: ops, launches, calls.
void set_counts(benchmark::State& state, const ArmRecord& arm);
// Under this label equal work has equal texts: "work 0123456789ab".
void set_label(benchmark::State& state, const ArmRecord& arm);

}  // namespace stepscope::suites
