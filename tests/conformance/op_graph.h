// A graph of one op, and running a graph in a mode: what cells ask of the executors.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "backends/execution/executor.h"
#include "tests/conformance/sites.h"

namespace stepscope::conformance {

// What is declared in a graph, and the elements to write there.
struct Leaf {
  std::string name;
  TensorType type;
  std::vector<double> elements;
};

// Inputs are declared as in0, in1, ... : floating ones as parameters, so that they may be
// overwritten and have gradients, others as inputs, or as states where the op overwrites them. An
// input that another op makes is made by that op in front, of in1.in0, in1.in1, ...
struct OpGraph {
  Graph graph;
  std::vector<ValueId> in, out;
  std::vector<Leaf> leaves;
};
OpGraph make_op_graph(const OpEntry& op, const OpCase& op_case);

// A graph on a backend in a mode, with a model segment of its own.
class GraphRun {
 public:
  GraphRun(Backend& backend, Mode mode, const Graph& graph);

  void write(std::string_view declared_name, const Bytes& bytes);
  void write(const std::vector<Leaf>& leaves);
  void step();
  // A declared or kept value.
  Bytes read(std::string_view value_name);
  const Counters& counters() const { return stream_->counters(); }
  const Executor& executor() const { return *executor_; }

 private:
  std::unique_ptr<Stream> stream_;
  KernelCache cache_;
  ModelMemory memory_;
  std::unique_ptr<Executor> executor_;
};

}  // namespace stepscope::conformance
