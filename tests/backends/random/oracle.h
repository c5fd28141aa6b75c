// Oracle: a graph in f64, op by op, with memory of its own for every value. It knows no plan, no
// pool and no executor, so it cannot share their mistakes.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <functional>
#include <memory>
#include <span>
#include <vector>

#include "backends/api/backend.h"
#include "ops/ir/graph.h"

namespace stepscope::test {

class Oracle {
 public:
  // The graph must outlive the oracle.
  explicit Oracle(const Graph& graph);

  // Of a declared value, before a step.
  void write(ValueId declared, std::span<const double> elements);
  // Runs all ops; `after` is told of each when its outputs are there. Afterwards declared values
  // still hold what they held at the beginning of the step.
  void step(const std::function<void(const Op&)>& after);
  // Makes the results of updates the new content of what they update.
  void finish_step();

  const Graph& graph() const { return graph_; }
  // Of any value, in the version that its id names.
  std::span<const double> elements(ValueId id) const;
  // Of an i32 value, or where the winners of a MaxPool lie: h * W + w for each window.
  std::span<const std::int32_t> integers(ValueId id) const;
  // Floating or not, as doubles.
  std::vector<double> as_doubles(ValueId id) const;

 private:
  struct Content {
    std::vector<double> elements;
    std::vector<std::int32_t> integers;
    std::vector<std::byte> bytes;
    std::byte* data();
  };

  void make_room(ValueId id);
  Content& content(ValueId id) {
    return contents_[static_cast<std::size_t>(graph_.source(id).index)];
  }
  const Content& content(ValueId id) const {
    return contents_[static_cast<std::size_t>(graph_.source(id).index)];
  }

  const Graph& graph_;
  std::unique_ptr<Backend> backend_;
  std::unique_ptr<Stream> stream_;
  std::vector<std::unique_ptr<Kernel>> kernels_;  // per op
  std::vector<Content> contents_;                 // per value; of a view: nothing
};

}  // namespace stepscope::test
