// The rows of the calibration, one by one.
// SPDX-License-Identifier: Apache-2.0
#include "bench/measure/calibration.h"

#include <fmt/format.h>

#include <algorithm>
#include <functional>
#include <memory>
#include <string>

#include "backends/null/null.h"
#include "bench/measure/bandwidth.h"
#include "bench/measure/core_handshake.h"
#include "bench/measure/fma_peak.h"
#include "bench/measure/row_values.h"
#include "bench/measure/sampler.h"
#include "bench/measure/statistics.h"
#include "bench/record/simulated.h"
#include "ops/base/check.h"

namespace stepscope {
namespace {

constexpr std::size_t kSamples = 21, kFewestSamples = 5;
constexpr std::int64_t kMostCalls = 1 << 20;

CalibrationRow row_of(std::string name, std::string unit, std::string note) {
  CalibrationRow row;
  row.name = std::move(name);
  row.unit = std::move(unit);
  row.note = std::move(note);
  return row;
}

CalibrationRow divided(const CalibrationRow& row, std::string name, std::string unit, double by) {
  CalibrationRow per = row;
  per.name = std::move(name);
  per.unit = std::move(unit);
  if (row.value) {
    per.value = *row.value / by;
    per.low = *row.low / by;
    per.high = *row.high / by;
  }
  return per;
}

// Nanoseconds of one call: blocks of calls, as many as fill half a millisecond; fewer blocks where
// a busy machine makes them long.
std::vector<double> time_calls(Timer& timer, const std::function<void()>& call) {
  constexpr std::int64_t kBlockNs = 500'000, kLimitNs = 50'000'000;
  const std::int64_t begin = timer.now();
  std::vector<double> per_call;
  std::int64_t calls = 1;
  while (per_call.size() < kSamples &&
         (per_call.size() < kFewestSamples || timer.now() - begin < kLimitNs)) {
    const std::int64_t start = timer.now();
    for (std::int64_t i = 0; i < calls; ++i) call();
    const std::int64_t taken = timer.now() - start;
    if (taken < kBlockNs && calls < kMostCalls) {
      calls *= 2;  // too short to time: all blocks grow
      per_call.clear();
      continue;
    }
    per_call.push_back(static_cast<double>(taken) / static_cast<double>(calls));
  }
  return per_call;
}

CalibrationRow stamp_cost(Timer& timer) {
  CalibrationRow row = row_of("stamp_cost", "ns", "reading the steady clock, in blocks");
  fill(row, time_calls(timer, [&] { timer.now(); }));
  return row;
}

CalibrationRow stamp_resolution(Timer& timer) {
  CalibrationRow row =
      row_of("stamp_resolution", "ns", "differences above 0 of neighbouring stamps");
  std::vector<double> steps;
  std::int64_t last = timer.now();
  for (int i = 0; i < 10'000 && steps.size() < 1'000; ++i) {
    const std::int64_t next = timer.now();
    if (next > last) steps.push_back(static_cast<double>(next - last));
    last = next;
  }
  if (steps.empty()) {
    row.reason = "the clock did not move";
    return row;
  }
  fill(row, steps);
  row.note += fmt::format("; the smallest is {} ns", *std::min_element(steps.begin(), steps.end()));
  return row;
}

CalibrationRow empty_sync(Timer& timer, Backend& backend) {
  CalibrationRow row = row_of(
      "empty_sync", "ns", fmt::format("waiting for a stream of {} without work", backend.name()));
  if (backend.info().simulated) {
    row.reason = why_simulated({std::string(backend.name())});
    return row;
  }
  const std::unique_ptr<Stream> stream = backend.make_stream();
  fill(row, time_calls(timer, [&] { stream->wait(); }));
  return row;
}

// A step of chain:N:1 as a whole, in that mode, without passes.
std::vector<double> time_chain(Timer& timer, Backend& backend, Mode mode, std::int64_t length) {
  Session session(backend, make_model(fmt::format("chain:{}:1", length)),
                  {.mode = mode, .step_batches = {1}, .passes = {}});
  session.warm_up();
  Executor& executor = session.step(1);
  Stream& stream = session.stream();
  return time_calls(timer, [&] {
    executor.enqueue(stream);
    stream.wait();
  });
}

void add_dispatch_rows(std::vector<CalibrationRow>& rows, Timer& timer) {
  constexpr std::int64_t kOps = 100;
  const std::unique_ptr<Backend> null = null::make_backend({});
  for (const Mode mode : {Mode::eager, Mode::planned, Mode::graph}) {
    CalibrationRow whole =
        row_of("", "ns", fmt::format("a step of chain:{}:1 on null, in {} mode", kOps, name(mode)));
    fill(whole, time_chain(timer, *null, mode, kOps));
    rows.push_back(divided(whole, fmt::format("null_plan_per_op_{}", name(mode)), "ns/op",
                           static_cast<double>(kOps)));
  }
  std::vector<CalibrationRow> per_call;
  for (const std::int64_t calls : {1, 10, 100, 1000}) {
    rows.push_back(row_of(fmt::format("tape_empty_calls_{}", calls), "ns",
                          fmt::format("replaying a tape of {} empty calls", calls)));
    fill(rows.back(), time_chain(timer, *null, Mode::graph, calls));
    per_call.push_back(divided(rows.back(), fmt::format("tape_per_call_{}", calls), "ns/op",
                               static_cast<double>(calls)));
  }
  rows.insert(rows.end(), per_call.begin(), per_call.end());
}

CalibrationRow library_call(Timer& timer, Backend& backend) {
  constexpr std::int64_t kOps = 100;
  CalibrationRow row = row_of(
      "library_call", "ns/op",
      fmt::format("an op of one element: chain:{}:1 on {}, in planned mode", kOps, backend.name()));
  if (backend.info().simulated) {
    row.reason = why_simulated({std::string(backend.name())});
    return row;
  }
  try {
    fill(row, time_chain(timer, backend, Mode::planned, kOps));
    row = divided(row, row.name, row.unit, static_cast<double>(kOps));
  } catch (const Error& error) {
    row.reason = error.what();
  }
  return row;
}

CalibrationRow fork_join(Timer& timer, Backend& backend, int threads) {
  CalibrationRow row =
      row_of("fork_join", "ns", fmt::format("an empty parallel region of {} threads", threads));
  if (threads < 2) {
    row.reason = "one thread: there is no team";
  } else if (!backend.open_team()) {
    row.reason = fmt::format("{} has no team of threads", backend.name());
  } else {
    fill(row, time_calls(timer, [&] { backend.open_team(); }));
  }
  return row;
}

CalibrationRow core_handshake() {
  CalibrationRow row =
      row_of("core_handshake", "ns", "round trip of a cache line between two pinned threads");
  std::vector<double> trips;
  for (int i = 0; i < 5; ++i) {
    const Handshake shake = measure_core_handshake();
    row.reason = shake.reason;
    if (!shake.round_trip_ns) return row;
    trips.push_back(*shake.round_trip_ns);
  }
  fill(row, trips);
  return row;
}

CalibrationRow fma_peak() {
  CalibrationRow row = row_of("fma_peak", "GFLOP/s", "");
  std::vector<double> rates;
  for (int i = 0; i < 9; ++i) {
    const FmaPeak peak = measure_fma_peak(std::chrono::milliseconds(5));
    row.note = fmt::format("one core, f32, {}, on registers alone", peak.vectors);
    rates.push_back(peak.flops_per_second * 1e-9);
  }
  fill(row, rates);
  return row;
}

}  // namespace

std::vector<CalibrationRow> calibrate(Timer& timer, Backend& backend, int threads,
                                      const CalibrationOptions& options) {
  std::vector<CalibrationRow> rows;
  rows.push_back(stamp_cost(timer));
  rows.push_back(stamp_resolution(timer));
  rows.push_back(empty_sync(timer, backend));
  add_dispatch_rows(rows, timer);
  rows.push_back(library_call(timer, backend));
  rows.push_back(fork_join(timer, backend, threads));
  rows.push_back(core_handshake());
  if (options.machine) {
    const std::vector<CalibrationRow> bandwidth = measure_bandwidth(timer);
    rows.insert(rows.end(), bandwidth.begin(), bandwidth.end());
    rows.push_back(fma_peak());
  }
  return rows;
}

}  // namespace stepscope
