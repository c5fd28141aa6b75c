// One-op graphs and their execution.
// SPDX-License-Identifier: Apache-2.0
#include "tests/conformance/op_graph.h"

#include <fmt/format.h>

#include "ops/ir/op_def.h"

namespace stepscope::conformance {
namespace {

ModelLayout layout_of(const Graph& graph, const Backend& backend) {
  const Graph* const graphs[] = {&graph};
  return ModelLayout(graphs, backend.alignment());
}

bool overwrites(const OpSite& site, std::size_t input) {
  for (std::size_t k = 0; k < site.out.size(); ++k) {
    const int over = overwritten_input(site.kind, site.attrs, site.in.size(), k);
    if (over == static_cast<int>(input)) return true;
  }
  return false;
}

// Appends the op; in `made`, inputs and outputs are those of the last one appended.
void append(OpGraph& made, const OpEntry& op, const OpCase& op_case, const std::string& prefix) {
  const OpSite site = site_of(op, op_case);
  const Elements elements = draw_inputs(op, op_case);
  std::vector<ValueId> in;
  for (std::size_t i = 0; i < op_case.in.size(); ++i) {
    const std::string name = fmt::format("{}in{}", prefix, i);
    if (const Source* source = op_case.in[i].source.get(); source != nullptr) {
      append(made, maker_of(*source), source->op_case, name + ".");
      in.push_back(made.out[source->output]);
      continue;
    }
    const Role role = is_floating(site.in[i].dtype) ? Role::parameter
                      : overwrites(site, i)         ? Role::state
                                                    : Role::input;
    in.push_back(made.graph.declare(role, site.in[i], name));
    made.leaves.push_back({name, site.in[i], elements[i]});
  }
  made.in = in;
  made.out = made.graph.apply(op.kind, std::move(in), op_case.attrs);
}

}  // namespace

OpGraph make_op_graph(const OpEntry& op, const OpCase& op_case) {
  OpGraph made;
  append(made, op, op_case, "");
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

void GraphRun::write(const std::vector<Leaf>& leaves) {
  for (const Leaf& leaf : leaves) write(leaf.name, bytes_of(leaf.elements, leaf.type.dtype));
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
