// From x and labels forwards to the loss: each op on the way either keeps the rows apart, or ends
// them in a loss that leaves rows out, or is the reason. Then the same graph at another batch, side
// by side: a number that follows the batch counts rows that are left out.
// SPDX-License-Identifier: Apache-2.0
#include "ops/models/masking.h"

#include <fmt/format.h>

#include <algorithm>
#include <optional>
#include <span>
#include <variant>
#include <vector>

#include "ops/ir/op_def.h"

namespace stepscope {
namespace {

// What a value knows of the rows of x.
enum class Rows : std::uint8_t {
  none,   // the same whatever a row left out holds
  apart,  // dimension 0 is the batch, and each row comes from its own row of x
};

class RowWalk {
 public:
  explicit RowWalk(const Graph& graph) : graph_(graph), rows_(graph.values().size(), Rows::none) {}

  // `other`: the same step at another batch.
  std::string reason(const Graph& other) {
    const std::optional<ValueId> loss = graph_.find("loss");
    const std::optional<ValueId> labels = graph_.find("labels");
    if (!loss) return "there is no loss";
    if (!labels) return "there are no labels";
    labels_ = *labels;
    at(labels_) = Rows::apart;
    if (const std::optional<ValueId> x = graph_.find("x")) at(*x) = Rows::apart;
    const std::vector<bool> needed = ops_towards(*loss);
    for (std::size_t i = 0; i < graph_.ops().size() && reason_.empty(); ++i) {
      if (needed[i]) visit(graph_.ops()[i]);
    }
    if (reason_.empty() && rows_of(*loss) == Rows::apart) {
      reason_ = fmt::format("the loss {} is a row of x", graph_.label(*loss));
    }
    for (std::size_t i = 0; i < needed.size() && reason_.empty(); ++i) {
      if (needed[i]) compare(i, other);
    }
    return reason_;
  }

 private:
  Rows& at(ValueId id) { return rows_[static_cast<std::size_t>(id.index)]; }

  std::vector<bool> ops_towards(ValueId value) const {
    std::vector<bool> needed(graph_.ops().size());
    std::vector<ValueId> open = {value};
    while (!open.empty()) {
      const std::int32_t maker = graph_.value(open.back()).producer;
      open.pop_back();
      if (maker < 0 || needed[static_cast<std::size_t>(maker)]) continue;
      needed[static_cast<std::size_t>(maker)] = true;
      const std::vector<ValueId>& inputs = graph_.ops()[static_cast<std::size_t>(maker)].inputs;
      open.insert(open.end(), inputs.begin(), inputs.end());
    }
    return needed;
  }

  // A view is apart as what it shows is, if it keeps dimension 0.
  Rows rows_of(ValueId id) {
    const ValueId source = graph_.source(id);
    if (at(source) == Rows::none || source == id) return at(source);
    const Shape& from = graph_.type(source).shape;
    const Shape& to = graph_.type(id).shape;
    if (from.rank() > 0 && to.rank() > 0 && from[0] == to[0]) return Rows::apart;
    refuse(fmt::format("reshape makes {} of other rows than {} has", graph_.label(id),
                       graph_.label(source)));
    return Rows::none;
  }

  bool apart(const Op& op, std::size_t input) {
    return input < op.inputs.size() && rows_of(op.inputs[input]) == Rows::apart;
  }
  bool any_apart(const Op& op, std::size_t from = 0) {
    for (std::size_t k = from; k < op.inputs.size(); ++k) {
      if (apart(op, k)) return true;
    }
    return false;
  }

  void refuse(std::string why) {
    if (reason_.empty()) reason_ = std::move(why);
  }
  void refuse(const Op& op, std::size_t input, std::string_view how) {
    refuse(fmt::format("{} makes {} {} {}", name(op.kind), graph_.label(op.outputs.front()), how,
                       graph_.label(op.inputs[input])));
  }
  void set_outputs(const Op& op, Rows rows) {
    for (const ValueId id : op.outputs) at(id) = rows;
  }

  // Only `batched` may hold rows; every other input is one for all of them.
  void one_batched(const Op& op, std::size_t batched, bool keeps_rows) {
    for (std::size_t k = 0; k < op.inputs.size(); ++k) {
      if (apart(op, k) && (k != batched || !keeps_rows)) return refuse(op, k, "from all rows of");
    }
    set_outputs(op, Rows::apart);
  }

  // Leaves rows out by `labels`: the first output, a loss or a count, is free of them.
  void masked(const Op& op) {
    if (graph_.source(op.inputs[1]) != labels_) return refuse(op, 1, "by other labels:");
    if (any_apart(op, 2)) return refuse(op, 2, "with a factor that depends on x:");
    set_outputs(op, Rows::apart);
    if (op.kind != OpKind::SoftmaxCrossEntropyGrad) at(op.outputs[0]) = Rows::none;
  }

  template <class AxisAttrs>
  bool keeps_first_axis(const Op& op) const {
    return std::get<AxisAttrs>(op.attrs).axis != 0;
  }

  void visit(const Op& op) {
    if (!any_apart(op)) return;
    if (!reason_.empty()) return;  // a reshape in front of it
    switch (op.kind) {
      case OpKind::SoftmaxCrossEntropy:
      case OpKind::SoftmaxCrossEntropyGrad:
      case OpKind::SoftmaxCrossEntropyWithGrad:
      case OpKind::CorrectCount:
        return masked(op);
      case OpKind::MatMul:
      case OpKind::Linear:
        return one_batched(op, 0, !std::get<MatMulAttrs>(op.attrs).transpose_a);
      case OpKind::Gather:  // a label is no index: -1 is in front of the table
        if (graph_.source(op.inputs[1]) == labels_) return refuse(op, 1, "by the rows of");
        return one_batched(op, 1, true);
      case OpKind::AddBias:
      case OpKind::Conv2d:
      case OpKind::Conv2dBias:
      case OpKind::MaxPool:
      case OpKind::AvgPool:
      case OpKind::Argmax:
        return one_batched(op, 0, true);
      case OpKind::ReduceSum:
        return one_batched(op, 0, keeps_first_axis<ReduceAttrs>(op));
      case OpKind::Broadcast:
        return one_batched(op, 0, keeps_first_axis<BroadcastAttrs>(op));
      case OpKind::Add:
      case OpKind::Sub:
      case OpKind::Mul:
      case OpKind::Scale:
      case OpKind::Relu:
      case OpKind::ReluGrad:
      case OpKind::Tanh:
      case OpKind::TanhGrad:
      case OpKind::Sigmoid:
      case OpKind::SigmoidGrad:
      case OpKind::Cast:
      case OpKind::Reorder:
      case OpKind::PointwiseChain:
        return set_outputs(op, Rows::apart);  // element by element
      default:
        const auto first = std::find_if(op.inputs.begin(), op.inputs.end(),
                                        [&](ValueId id) { return rows_of(id) == Rows::apart; });
        return refuse(op, static_cast<std::size_t>(first - op.inputs.begin()),
                      "in a way that may mix the rows of");
    }
  }

  // ---- What depends on the size of the batch.

  static std::int64_t batch_of(const Graph& graph) {
    const std::optional<ValueId> labels = graph.find("labels");
    return labels && graph.type(*labels).shape.rank() > 0 ? graph.type(*labels).shape[0] : 0;
  }
  void differs(const Op& op, const Graph& other, std::string_view here, std::string_view there) {
    refuse(fmt::format("{} makes {} with {} at a batch of {}, with {} at one of {}", name(op.kind),
                       graph_.label(op.outputs.front()), here, batch_of(graph_), there,
                       batch_of(other)));
  }

  // Rows are as many as the batch has, all else is the same.
  bool alike(ValueId here, const TensorType& there) {
    const TensorType& type = graph_.type(here);
    if (rows_of(here) == Rows::none || type.shape.rank() == 0) return type == there;
    const std::span<const std::int64_t> a = type.shape.dims(), b = there.shape.dims();
    return type.dtype == there.dtype && a.size() == b.size() &&
           std::equal(a.begin() + 1, a.end(), b.begin() + 1);
  }

  // Op i here and there; of one kind they have as many outputs.
  void compare(std::size_t i, const Graph& other) {
    const Op& op = graph_.ops()[i];
    if (i >= other.ops().size() || other.ops()[i].kind != op.kind ||
        other.ops()[i].inputs.size() != op.inputs.size()) {
      return differs(op, other, name(op.kind), "another op");
    }
    const Op& twin = other.ops()[i];
    const std::string here = to_string(op.attrs), there = to_string(twin.attrs);
    if (here != there) return differs(op, other, here, there);
    compare(op, other, op.inputs, twin.inputs);
    compare(op, other, op.outputs, twin.outputs);
  }

  void compare(const Op& op, const Graph& other, const std::vector<ValueId>& values,
               const std::vector<ValueId>& twins) {
    for (std::size_t k = 0; k < values.size(); ++k) {
      const TensorType& there = other.type(twins[k]);
      if (alike(values[k], there)) continue;
      return differs(op, other, to_string(graph_.type(values[k])), to_string(there));
    }
  }

  const Graph& graph_;
  std::vector<Rows> rows_;
  ValueId labels_;
  std::string reason_;
};

}  // namespace

std::string why_rows_cannot_be_left_out(const Graph& at, const Graph& at_another_batch) {
  return RowWalk(at).reason(at_another_batch);
}

}  // namespace stepscope
