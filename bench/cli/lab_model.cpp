// The lab's model of a stream as tables.
// SPDX-License-Identifier: Apache-2.0
#include "bench/cli/lab_model.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <span>

#include "bench/report/columns.h"
#include "bench/report/renderers.h"
#include "bench/report/table.h"
#include "graph/timeline/fake.h"
#include "graph/timeline/fifo.h"
#include "ops/base/check.h"

namespace stepscope::cli {
namespace {

constexpr std::int64_t kLaunchNs = 300'000;
constexpr std::int64_t kKernelNs = 2'100'000;

void check_times(std::span<const double> times, std::string_view flag) {
  check(!times.empty(), Fault::bad_input, "lab: --fifo needs {} with a number for each kernel",
        flag);
  for (std::size_t i = 0; i < times.size(); ++i) {
    check(std::isfinite(times[i]) && times[i] >= 0.0, Fault::bad_input,
          "lab: {}: number {} is {}, expected a time of 0 or more", flag, i + 1, times[i]);
    check(flag != "--launch" || i == 0 || times[i] >= times[i - 1], Fault::bad_input,
          "lab: {}: kernel {} at {} comes before kernel {} at {}, expected rising times", flag,
          i + 1, times[i], i, times[i - 1]);
  }
}

void check_fifo(const FifoSpec& spec) {
  check_times(spec.launch, "--launch");
  check_times(spec.device, "--device");
  check(spec.launch.size() == spec.device.size(), Fault::bad_input,
        "lab: --launch has {} numbers and --device {}, expected one each for every kernel",
        spec.launch.size(), spec.device.size());
  if (!spec.stop) return;
  check(std::isfinite(*spec.stop) && *spec.stop >= spec.launch.front(), Fault::bad_input,
        "lab: --stop: {} is not at or after the first launch at {}", *spec.stop,
        spec.launch.front());
}

std::string number(double value) { return fmt::format("{:g}", value); }

std::string ms(std::int64_t ns) { return number(static_cast<double>(ns) * 1e-6); }

// The reading between two stamps, with the wait before the second stamp or, faulty, behind it.
std::int64_t reading(FakeStream& stream, bool correct) {
  stream.sync();
  const std::int64_t begin = stream.stamp();
  stream.submit(kLaunchNs, kKernelNs);
  if (correct) stream.sync();
  const std::int64_t end = stream.stamp();
  if (!correct) stream.sync();
  return end - begin;
}

}  // namespace

std::string fifo_text(const FifoSpec& spec) {
  check_fifo(spec);
  const Timeline<double> line = run_fifo<double>(spec.launch, spec.device);
  Table table("kernels", "",
              columns({"kernel", "launch", "device", "start", "completion", "kernel_delay"}));
  for (std::size_t i = 0; i < spec.launch.size(); ++i) {
    table.add({fmt::to_string(i + 1), number(spec.launch[i]), number(spec.device[i]),
               number(line.starts[i]), number(line.completions[i]), number(line.queue_delays[i])});
  }
  const double first = spec.launch.front();
  const double stop = spec.stop.value_or(spec.launch.back());
  std::string text = fmt::format(
      "one stream, in ms; a kernel starts when it was launched and the one before has ended\n{}"
      "busy {}, idle {}, span {}, active {:.1f} %\n",
      terminal_text(table), number(line.busy), number(line.idle), number(line.span),
      100.0 * line.active_share());
  text += fmt::format(
      "stamps at {} and {}, without a wait: {} ms; the last kernel ends at {}: {} ms "
      "are missed\n",
      number(first), number(stop), number(line.unsynchronised(first, stop)), number(line.end()),
      number(line.missed_tail(stop)));
  const std::size_t late = static_cast<std::size_t>(
      std::count_if(spec.launch.begin(), spec.launch.end(), [&](double at) { return at > stop; }));
  if (late > 0) {
    text += fmt::format("{} of {} launches {} after the second stamp\n", late, spec.launch.size(),
                        late == 1 ? "comes" : "come");
  }
  return text;
}

std::string synchronisation_text() {
  Table table("synchronisation", "", columns({"event_order", "work_begins", "reading", "misses"}));
  for (const StartRule rule : {StartRule::when_call_returns, StartRule::at_call_begin}) {
    for (const bool correct : {true, false}) {
      FakeClock clock;
      FakeStream stream(clock, {.start = rule});
      const std::int64_t read = reading(stream, correct);
      FakeClock other;
      FakeStream complete(other, {.start = rule});
      const std::int64_t whole = reading(complete, true);
      table.add(
          {fmt::format("{}: {}", correct ? "correct" : "FAULTY",
                       fmt::join(stream.event_names(), ", ")),
           rule == StartRule::at_call_begin ? "when the call begins" : "when the call returns",
           fmt::format("{} ms", ms(read)), fmt::format("{} ms", ms(whole - read))});
    }
  }
  return fmt::format(
      "the same kernel timed both ways, on a fake stream (a call of {} ms, a kernel of {} ms):\n{}",
      ms(kLaunchNs), ms(kKernelNs), terminal_text(table));
}

}  // namespace stepscope::cli
