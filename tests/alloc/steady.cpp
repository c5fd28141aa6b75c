// Measuring of steady steps, and words for what was found.
// SPDX-License-Identifier: Apache-2.0
#include "tests/alloc/steady.h"

#include <gtest/gtest.h>

#include <fmt/format.h>

#include <algorithm>
#include <map>

#include "graph/passes/fusion.h"

namespace stepscope::alloc {
namespace {

// Name of a function without its return type, template arguments and parameters.
std::string short_name(const std::string& demangled) {
  const std::string name = demangled.substr(0, demangled.find_first_of("<("));
  return name.substr(name.rfind(' ') + 1);
}

}  // namespace

SessionOptions options_for(const Steady& run, Backend& backend) {
  return {.mode = run.mode,
          .step_batches = {run.workload.batch},
          .evaluation_batches = {},
          .passes = passes_for(parse_fusion(run.fusion), backend.wishes())};
}

Measured measure(Session& session, std::int64_t batch) {
  const auto features = static_cast<std::size_t>(session.model().features);
  const std::vector<float> x(static_cast<std::size_t>(batch) * features, 0.5F);
  const std::vector<std::int32_t> labels(
      session.model().classes > 0 ? static_cast<std::size_t>(batch) : 0);
  session.warm_up();
  const Counters before = session.stream().counters();
  start();
  for (std::uint64_t i = 0; i < kSteps; ++i) {
    session.load(x, labels);
    session.enqueue_step(batch);
    session.stream().wait();
  }
  Measured measured;
  measured.count = stop();
  measured.counters = session.stream().counters() - before;
  measured.ops = session.step(batch).graph().ops().size();
  return measured;
}

std::string summary_of(const Count& count) {
  std::map<std::string, int> found;
  for (const Allocation& each : count.kept) {
    const Attribution made = attribute(each);
    ++found[fmt::format("by {} ({})", made.owner == Owner::library ? "library" : "own",
                        short_name(made.frame))];
  }
  std::string text = fmt::format("{} allocations in {} steps", count.all_threads, kSteps);
  for (const auto& [owner, times] : found) text += fmt::format("; {} {}", times, owner);
  return text;
}

std::string text_of(const Count& count) {
  for (const Allocation& each : count.kept) {
    if (attribute(each).owner == Owner::own) return summary_of(count) + "\n" + describe(each);
  }
  return summary_of(count);
}

std::uint64_t own(const Count& count) {
  EXPECT_EQ(count.all_threads, count.kept.size()) << "too many to look at each";
  return static_cast<std::uint64_t>(
      std::count_if(count.kept.begin(), count.kept.end(),
                    [](const Allocation& each) { return attribute(each).owner == Owner::own; }));
}

std::string name_of(const Steady& run) {
  std::string model(run.workload.model);
  std::replace(model.begin(), model.end(), ':', '_');
  return fmt::format("{}_{}_{}_B{}{}", run.backend, name(run.mode), model, run.workload.batch,
                     run.fusion == "on" ? "_fused" : "");
}

}  // namespace stepscope::alloc
