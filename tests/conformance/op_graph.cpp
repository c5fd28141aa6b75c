// One-op graphs and their execution.
// SPDX-License-Identifier: Apache-2.0
#include "tests/conformance/op_graph.h"

#include <fmt/format.h>

#include <algorithm>

#include "ops/ir/op_def.h"

namespace stepscope::conformance {
namespace {

ModelLayout layout_of(const Graph& graph, const Backend& backend) {
  const Graph* const graphs[] = {&graph};
  return ModelLayout(graphs, backend.alignment());
}

}  // namespace

OpGraph make_op_graph(OpKind kind, const Attrs& attrs, const std::vector<TensorType>& in) {
  OpGraph made;
  const auto& overwrites = op_def(kind).overwrites;
  for (std::size_t i = 0; i < in.size(); ++i) {
    const bool overwritten = std::find(overwrites.begin(), overwrites.end(),
                                       static_cast<std::int8_t>(i)) != overwrites.end();
    const Role role = is_floating(in[i].dtype) ? Role::parameter
                      : overwritten            ? Role::state
                                               : Role::input;
    made.in.push_back(made.graph.declare(role, in[i], fmt::format("in{}", i)));
  }
  made.out = made.graph.apply(kind, made.in, attrs);
  return made;
}

GraphRun::GraphRun(Backend& backend, Mode mode, const Graph& graph)
    : stream_(backend.make_stream()),
      cache_(backend),
      memory_(backend, *stream_, layout_of(graph, backend)),
      executor_(make_executor(
          mode, std::make_shared<const Program>(compile(cache_, graph, memory_.layout())), cache_,
          memory_, *stream_)) {}

void GraphRun::write(std::string_view declared_name, const Bytes& bytes) {
  memory_.write(*stream_, declared_name, bytes);
}

void GraphRun::step() {
  executor_->enqueue(*stream_);
  stream_->wait();
}

Bytes GraphRun::read(std::string_view value_name) {
  const ValueId id = *executor_->graph().find(value_name);
  Bytes bytes(executor_->graph().type(id).bytes());
  stream_->copy_out(bytes, executor_->address(id));
  return bytes;
}

}  // namespace stepscope::conformance
