// Lemma by lemma: starts from completions, gaps from starts.
// SPDX-License-Identifier: Apache-2.0
#include "graph/timeline/fifo.h"

#include <algorithm>

#include "ops/base/check.h"

namespace stepscope {
namespace {

template <class Time>
void append(Timeline<Time>& line, Time launch, Time device) {
  const std::size_t index = line.starts.size();
  check(device >= Time{}, Fault::bad_input, "stream: piece {} runs for {}, expected 0 or more",
        index, device);
  check(index == 0 || launch >= line.launches.back(), Fault::bad_input,
        "stream: piece {} is launched at {}, before piece {} at {}", index, launch, index - 1,
        index == 0 ? launch : line.launches.back());
  const Time start = index == 0 ? launch : std::max(line.completions.back(), launch);
  if (index > 0 && start > line.completions.back()) {
    line.gaps.push_back({index, line.completions.back(), start - line.completions.back()});
    line.idle += line.gaps.back().length;
  }
  line.launches.push_back(launch);
  line.starts.push_back(start);
  line.completions.push_back(start + device);
  line.queue_delays.push_back(start - launch);
  line.busy += device;
  line.span = line.completions.back() - line.starts.front();
}

}  // namespace

template <class Time>
double Timeline<Time>::active_share() const {
  return span > Time{} ? static_cast<double>(busy) / static_cast<double>(span) : 0.0;
}

template <class Time>
Timeline<Time> run_fifo(std::span<const Time> launch, std::span<const Time> device) {
  check(launch.size() == device.size(), Fault::bad_input, "stream: {} launches, {} durations",
        launch.size(), device.size());
  Timeline<Time> line;
  for (std::size_t i = 0; i < launch.size(); ++i) append(line, launch[i], device[i]);
  return line;
}

template <class Time>
Timeline<Time> run_replay(Time launch, std::span<const Time> device, Time between) {
  check(between >= Time{}, Fault::bad_input, "stream: {} between the nodes, expected 0 or more",
        between);
  Timeline<Time> line;
  for (const Time duration : device) {
    append(line, line.starts.empty() ? launch : line.end() + between, duration);
  }
  return line;
}

template struct Timeline<std::int64_t>;
template struct Timeline<double>;
template Timeline<std::int64_t> run_fifo(std::span<const std::int64_t>,
                                         std::span<const std::int64_t>);
template Timeline<double> run_fifo(std::span<const double>, std::span<const double>);
template Timeline<std::int64_t> run_replay(std::int64_t, std::span<const std::int64_t>,
                                           std::int64_t);
template Timeline<double> run_replay(double, std::span<const double>, double);

}  // namespace stepscope
