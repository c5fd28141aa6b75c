// The chain workload.
// SPDX-License-Identifier: Apache-2.0
#include "ops/models/chain.h"

#include "ops/base/check.h"
#include "ops/ir/build.h"
#include "ops/ir/verify.h"
#include "ops/models/settings.h"

namespace stepscope {
namespace {

constexpr std::int64_t kDefaultElements = 256;  // 1 KiB of f32: far below any launch cost

Graph step(std::int64_t length, std::int64_t elements, std::int64_t batch) {
  Graph graph;
  ValueId h = graph.declare(Role::input, {{batch, elements}, DType::f32}, "x");
  for (std::int64_t i = 0; i < length; ++i) h = build::scale(graph, h, i % 2 == 0 ? 0.5 : 2.0);
  graph.keep(h, "out");
  verify(graph, "chain step");
  return graph;
}

}  // namespace

Model make_chain(std::string_view settings, const OptimizerSpec&) {
  const std::string spec = fmt::format("chain:{}", settings);
  check(!settings.empty(), Fault::bad_input, "model 'chain': needs a length, as in chain:50");
  const std::vector<std::int64_t> numbers = parse_sizes(settings, ':', spec);
  check(numbers.size() <= 2, Fault::bad_input,
        "model '{}': takes a length and elements, as in chain:50:256", spec);
  const std::int64_t length = numbers[0];
  constexpr std::int64_t kLongest = 100'000;  // ops in one graph; far above any step we know
  check(length <= kLongest, Fault::bad_input, "model '{}': at most {} ops", spec, kLongest);
  const std::int64_t elements = numbers.size() == 2 ? numbers[1] : kDefaultElements;
  return {.name = elements == kDefaultElements ? fmt::format("chain:{}", length)
                                               : fmt::format("chain:{}:{}", length, elements),
          .step = [=](std::int64_t batch) { return step(length, elements, batch); },
          .evaluation = {},
          .initial = {},
          .row = {elements},
          .features = elements,
          .classes = 0};
}

}  // namespace stepscope
