// The fork workload.
// SPDX-License-Identifier: Apache-2.0
#include "ops/models/fork.h"

#include "ops/base/check.h"
#include "ops/ir/build.h"
#include "ops/ir/verify.h"
#include "ops/models/settings.h"

namespace stepscope {
namespace {

constexpr std::int64_t kDefaultElements = 256;  // 1 KiB of f32: far below any launch cost
constexpr std::int64_t kWidest = 4096;          // chains

struct Fork {
  std::int64_t chains = 0, length = 0, elements = 0;
};

// In [0.5, 1), a different one for each chain, and exact in f32.
double first_factor(std::int64_t chain) {
  return 0.5 + static_cast<double>(chain) / static_cast<double>(2 * kWidest);
}

ValueId append_chain(Graph& graph, ValueId x, const Fork& fork, std::int64_t chain) {
  ValueId h = build::scale(graph, x, first_factor(chain));
  for (std::int64_t i = 1; i < fork.length; ++i) h = build::scale(graph, h, i % 2 == 0 ? 0.5 : 2.0);
  return h;
}

// One round: neighbours become one; an odd one out waits for the next round.
std::vector<ValueId> join(Graph& graph, const std::vector<ValueId>& ends) {
  std::vector<ValueId> joined;
  joined.reserve(ends.size() / 2 + 1);
  for (std::size_t i = 0; i + 1 < ends.size(); i += 2) {
    joined.push_back(build::add(graph, ends[i], ends[i + 1]));
  }
  if (ends.size() % 2 == 1) joined.push_back(ends.back());
  return joined;
}

Graph step(const Fork& fork, std::int64_t batch) {
  Graph graph;
  const ValueId x = graph.declare(Role::input, {{batch, fork.elements}, DType::f32}, "x");
  std::vector<ValueId> ends;
  ends.reserve(static_cast<std::size_t>(fork.chains));
  for (std::int64_t c = 0; c < fork.chains; ++c) ends.push_back(append_chain(graph, x, fork, c));
  while (ends.size() > 1) ends = join(graph, ends);
  graph.keep(ends.front(), "out");
  verify(graph, "fork step");
  return graph;
}

// The settings WxN[:elements], checked.
Fork parse(std::string_view settings) {
  constexpr std::int64_t kMostOps = 100'000;  // in one graph; far above any step we know
  const std::string spec = fmt::format("fork:{}", settings);
  const std::size_t colon = settings.find(':');
  const bool sized = colon != std::string_view::npos;
  check(!settings.empty(), Fault::bad_input,
        "model 'fork': needs chains and their length, as in fork:4x50");
  const std::vector<std::int64_t> numbers = parse_sizes(settings.substr(0, colon), 'x', spec);
  check(numbers.size() == 2, Fault::bad_input,
        "model '{}': takes chains x length and elements, as in fork:4x50:256", spec);
  Fork fork{numbers[0], numbers[1], kDefaultElements};
  if (sized) {
    const std::vector<std::int64_t> more = parse_sizes(settings.substr(colon + 1), ':', spec);
    check(more.size() == 1, Fault::bad_input,
          "model '{}': takes chains x length and elements, as in fork:4x50:256", spec);
    fork.elements = more[0];
  }
  check(fork.chains <= kWidest, Fault::bad_input, "model '{}': at most {} chains", spec, kWidest);
  check(fork.chains * fork.length + fork.chains - 1 <= kMostOps, Fault::bad_input,
        "model '{}': {} ops, at most {}", spec, fork.chains * fork.length + fork.chains - 1,
        kMostOps);
  return fork;
}

}  // namespace

Model make_fork(std::string_view settings, const OptimizerSpec&) {
  const Fork fork = parse(settings);
  std::string name = fmt::format("fork:{}x{}", fork.chains, fork.length);
  if (fork.elements != kDefaultElements) name += fmt::format(":{}", fork.elements);
  return {.name = std::move(name),
          .step = [fork](std::int64_t batch) { return step(fork, batch); },
          .evaluation = {},
          .initial = {},
          .row = {fork.elements},
          .features = fork.elements,
          .classes = 0};
}

}  // namespace stepscope
