// The tape is the graph itself: seed the loss with one, walk the ops backwards, add what meets.
// SPDX-License-Identifier: Apache-2.0
#include "ops/autodiff/backward.h"

#include <algorithm>

#include "ops/base/check.h"
#include "ops/ir/build.h"
#include "ops/ir/op_def.h"

namespace stepscope {
namespace {

std::size_t at(ValueId id) { return static_cast<std::size_t>(id.index); }

class Backward {
 public:
  Backward(Graph& graph, ValueId loss, std::span<const ValueId> wrt)
      : graph_(graph),
        loss_(loss),
        wrt_(wrt),
        forward_values_(graph.values().size()),
        gradient_(forward_values_),
        on_path_(forward_values_),
        views_(graph.ops().size() + 1) {
    for (const ValueId id : graph.ids()) {
      const Value& value = graph.value(id);
      if (value.sharing == Sharing::view) views_of(value.producer).push_back(id);
    }
  }

  std::vector<ValueId> run() {
    const TensorType type = graph_.type(loss_);
    check(type.shape.rank() == 0 && is_floating(type.dtype), Fault::bad_graph,
          "autodiff: the loss must be a floating scalar, {} is {}", graph_.label(loss_),
          to_string(type));
    mark_paths();
    accumulate(loss_, build::fill(graph_, type, 1.0));
    // A copy: rules append to the graph while we walk its first part.
    const std::vector<Op> forward(graph_.ops().begin(), graph_.ops().end() - 1);
    for (std::size_t i = forward.size(); i-- > 0;) visit(forward[i], static_cast<std::int32_t>(i));
    collect_views(-1);
    std::vector<ValueId> result;
    for (const ValueId id : wrt_) {
      check(gradient_[at(id)].valid(), Fault::bad_graph,
            "autodiff: the loss {} does not depend on {}", graph_.label(loss_), graph_.label(id));
      result.push_back(gradient_[at(id)]);
    }
    return result;
  }

 private:
  // A value is on a path when a gradient that was asked for flows through it.
  void mark_paths() {
    for (const ValueId id : wrt_) on_path_[at(id)] = true;
    for (const std::vector<ValueId>& views : views_) mark_views(views);
    for (std::size_t i = 0; i < graph_.ops().size(); ++i) {
      const Op& op = graph_.ops()[i];
      const bool any = std::any_of(op.inputs.begin(), op.inputs.end(),
                                   [&](ValueId id) { return on_path_[at(id)]; });
      if (!any) continue;
      for (const ValueId id : op.outputs) on_path_[at(id)] = true;
      mark_views(views_of(static_cast<std::int32_t>(i)));
    }
  }

  // Of what that op makes; -1: of what no op makes.
  std::vector<ValueId>& views_of(std::int32_t producer) {
    return views_[static_cast<std::size_t>(producer + 1)];
  }

  void mark_views(const std::vector<ValueId>& views) {
    for (const ValueId id : views) {
      if (on_path_[at(graph_.source(id))]) on_path_[at(id)] = true;
    }
  }

  void accumulate(ValueId id, ValueId gradient) {
    ValueId& sum = gradient_[at(id)];
    sum = sum.valid() ? build::add(graph_, sum, gradient) : gradient;
  }

  // Adds the gradients of views to those of the values they show.
  void collect_views(std::int32_t producer) {
    const std::vector<ValueId>& views = views_of(producer);
    for (std::size_t i = views.size(); i-- > 0;) {
      const ValueId id = views[i];
      if (!gradient_[at(id)].valid()) continue;
      const ValueId shown = graph_.source(id);
      accumulate(shown, graph_.reshape(gradient_[at(id)], graph_.type(shown).shape));
    }
  }

  void visit(const Op& op, std::int32_t index) {
    collect_views(index);
    std::vector<ValueId> output_grads;
    for (const ValueId id : op.outputs) output_grads.push_back(gradient_[at(id)]);
    const bool reached = std::any_of(output_grads.begin(), output_grads.end(),
                                     [](ValueId id) { return id.valid(); });
    FixedList<bool, kMaxInputs> wanted;
    for (const ValueId id : op.inputs) wanted.push_back(on_path_[at(id)]);
    if (!reached || std::find(wanted.begin(), wanted.end(), true) == wanted.end()) return;

    const OpDef& def = op_def(op.kind);
    check(def.vjp != nullptr, Fault::unsupported, "autodiff: {} has no gradient rule", def.name);
    std::vector<ValueId> input_grads(op.inputs.size());
    GradientRequest request{graph_, op, output_grads, {wanted.data(), wanted.size()}, input_grads};
    def.vjp(request);
    for (std::size_t i = 0; i < input_grads.size(); ++i) {
      if (wanted[i] && input_grads[i].valid()) accumulate(op.inputs[i], input_grads[i]);
    }
  }

  Graph& graph_;
  ValueId loss_;
  std::span<const ValueId> wrt_;
  std::size_t forward_values_;               // values before we appended any
  std::vector<ValueId> gradient_;            // per forward value: the sum so far
  std::vector<bool> on_path_;                // per forward value
  std::vector<std::vector<ValueId>> views_;  // of the forward values: views_of()
};

}  // namespace

std::vector<ValueId> add_backward(Graph& graph, ValueId loss, std::span<const ValueId> wrt) {
  return Backward(graph, loss, wrt).run();
}

}  // namespace stepscope
