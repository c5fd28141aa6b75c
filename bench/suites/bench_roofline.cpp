// bench_roofline: what one core can do at most: bytes a second from each level of its memory, and
// multiply-adds a second on registers alone. The bounds of steps and ops are made of these rates.
//
// Names: roofline/read|read_write/l1|l2|l3|dram, roofline/fma/f32. Time is that of one sample: 4
// MiB of passes, or a fixed count of multiply-adds. A level without a buffer that fits it is left
// out, and the context says why.
// SPDX-License-Identifier: Apache-2.0
#include <memory>

#include "bench/measure/bandwidth.h"
#include "bench/measure/fma_peak.h"
#include "bench/suites/suite.h"

namespace stepscope::suites {
namespace {

struct HeldBuffer final : Prepared {
  explicit HeldBuffer(std::size_t bytes) : probe(bytes) {}
  BandwidthProbe probe;
};

void time_bandwidth(benchmark::State& state, Suite& suite, const std::string& name,
                    const ProbeSize& size, Traffic traffic) {
  BandwidthProbe& probe =
      suite
          .prepared<HeldBuffer>(size.level,
                                [&] { return std::make_unique<HeldBuffer>(size.bytes); })
          .probe;
  const double bytes = probe.sample_bytes(traffic);
  std::vector<double> rates;
  probe.sample(suite.timer(), traffic);  // fills the caches
  while (state.KeepRunning()) {
    const auto taken = static_cast<double>(probe.sample(suite.timer(), traffic));
    state.SetIterationTime(taken / kNsPerSecond);
    rates.push_back(bytes / taken);  // bytes in a nanosecond: GB/s
  }
  state.SetBytesProcessed(state.iterations() * static_cast<std::int64_t>(bytes));
  state.SetLabel(fmt::format("{}, {} KiB", BandwidthProbe::vectors(), probe.bytes() / 1024));
  suite.keep(
      "", name, "GB/s",
      fmt::format("one core, {}, {} KiB, bytes {}", BandwidthProbe::vectors(), probe.bytes() / 1024,
                  traffic == Traffic::read ? "read" : "read and written"),
      rates);
}

void time_arithmetic(benchmark::State& state, Suite& suite, const std::string& name) {
  FmaProbe probe;
  std::vector<double> rates;
  for (int i = 0; i < 16; ++i) probe.run();  // wide vectors start slowly
  while (state.KeepRunning()) {
    const std::int64_t start = suite.timer().now();
    probe.run();
    const auto taken = static_cast<double>(suite.timer().now() - start);
    state.SetIterationTime(taken / kNsPerSecond);
    rates.push_back(probe.flops() / taken);
  }
  state.counters["flops"] =
      benchmark::Counter(probe.flops(), benchmark::Counter::kIsIterationInvariantRate);
  state.SetLabel(probe.vectors());
  suite.keep("", name, "GFLOP/s",
             fmt::format("one core, f32, {}, on registers alone", probe.vectors()), rates);
}

void add_all(Suite& suite) {
  for (const ProbeSize& size : bandwidth_sizes()) {
    for (const Traffic traffic : {Traffic::read, Traffic::read_write}) {
      const std::string name = fmt::format(
          "roofline/{}/{}", traffic == Traffic::read ? "read" : "read_write", size.level);
      if (size.bytes == 0) {
        benchmark::AddCustomContext(name, fmt::format("left out: {}", size.reason));
        continue;
      }
      suite.add(name, [&suite, name, size, traffic](benchmark::State& state) {
        time_bandwidth(state, suite, name, size, traffic);
      });
    }
  }
  const std::string name = "roofline/fma/f32";
  suite.add(name, [&suite, name](benchmark::State& state) { time_arithmetic(state, suite, name); });
}

}  // namespace
}  // namespace stepscope::suites

int main(int argc, char** argv) {
  using namespace stepscope::suites;
  return run_program({.name = "bench_roofline",
                      .what = "What one core can do at most: bandwidths and multiply-adds.",
                      .names = "roofline/read|read_write/l1|l2|l3|dram, roofline/fma/f32",
                      .counters = {"flops"},
                      .protocol = {{"sample",
                                    "4 MiB of passes over a buffer of the level, or "
                                    "multiply-adds on registers for under a millisecond"}}},
                     argc, argv, add_all);
}
