// Where versions of Google Benchmark differ, from 1.7.1 on: nothing else of the suites knows which
// one is installed.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <benchmark/benchmark.h>

#include <string>
#include <utility>

namespace stepscope::suites {

// 1.8.0 brought SkipWithMessage, and with it units in --benchmark_min_time: 0.1s, or 100x.
template <class State>
concept HasSkipWithMessage = requires(State& state) {
  state.SkipWithMessage(std::string());
};
inline constexpr bool kMinTimeHasUnit = HasSkipWithMessage<benchmark::State>;

// A text as the library takes it: 1.7.1 wants `const char*` where later ones want a string; what
// they return changed its name and is used as `auto`.
template <class Body>
auto* register_benchmark(const std::string& name, Body&& body) {
  return benchmark::RegisterBenchmark(name.c_str(), std::forward<Body>(body));
}
inline void skip_with_error(benchmark::State& state, const std::string& why) {
  state.SkipWithError(why.c_str());
}

}  // namespace stepscope::suites
