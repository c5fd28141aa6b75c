// relu_mask: where a MatMulReluGrad reads the output of a Linear with relu, the Linear saves where
// a gradient passes, and the gradient reads that. Libraries keep a bit an element for this; the
// output itself is read by the gradient of the weights alone. Only for backends that wish for it.
// SPDX-License-Identifier: Apache-2.0
#include <optional>
#include <vector>

#include "graph/passes/fusion.h"
#include "graph/passes/uses.h"
#include "ops/base/check.h"
#include "ops/ir/copy.h"
#include "ops/ir/op_def.h"

namespace stepscope {
namespace {

class Mask {
 public:
  explicit Mask(const Graph& graph)
      : graph_(graph), uses_(graph), copy_(graph, result_), mask_(graph.ops().size()) {}

  // Nothing moves: a pair stands where its two ops stood.
  PassResult run() {
    find_pairs();
    if (pairs_ == 0) {
      if (notes_.empty()) notes_.emplace_back("no gradient of relu in a product");
      return {graph_, std::move(notes_)};
    }
    for (std::size_t i = 0; i < graph_.ops().size(); ++i) {
      if (!put(i)) copy_.copy(i);
    }
    copy_.finish();
    return {std::move(result_), std::move(notes_)};
  }

 private:
  // The Linear with relu whose output the gradient reads.
  std::optional<std::size_t> linear_of(const Op& grad) const {
    const std::optional<std::size_t> maker = uses_.maker(grad.inputs[2]);
    if (!maker || graph_.ops()[*maker].kind != OpKind::Linear) return std::nullopt;
    const auto& attrs = std::get<MatMulAttrs>(graph_.ops()[*maker].attrs);
    return attrs.activation == Activation::relu ? maker : std::nullopt;
  }

  void find_pairs() {
    for (const Op& op : graph_.ops()) {
      if (op.kind != OpKind::MatMulReluGrad) continue;
      if (const std::optional<std::size_t> linear = linear_of(op)) {
        mask_[*linear].wanted = true;
        ++pairs_;
      } else {
        notes_.push_back(fmt::format("MatMulReluGrad {} stays: no Linear with relu makes {}",
                                     graph_.label(op.outputs[0]), graph_.label(op.inputs[2])));
      }
    }
  }

  std::vector<ValueId> copied(const std::vector<ValueId>& ids) {
    std::vector<ValueId> made;
    made.reserve(ids.size());
    for (const ValueId id : ids) made.push_back(copy_(id));
    return made;
  }

  // Puts op `i` as one of a pair; false: it is none.
  bool put(std::size_t i) {
    const Op& op = graph_.ops()[i];
    if (mask_[i].wanted) {
      result_.enter(op.phases);
      const std::vector<ValueId> made =
          result_.apply(OpKind::LinearReluMask, copied(op.inputs), op.attrs);
      copy_.map(op.outputs[0], made[0]);
      mask_[i].value = made[1];
      return true;
    }
    if (op.kind != OpKind::MatMulReluGrad) return false;
    const std::optional<std::size_t> linear = linear_of(op);
    if (!linear) return false;
    result_.enter(op.phases);
    copy_.map(
        op.outputs[0],
        result_.apply1(OpKind::MatMulMaskGrad,
                       {copy_(op.inputs[0]), copy_(op.inputs[1]), mask_[*linear].value}, op.attrs));
    return true;
  }

  struct Saved {
    bool wanted = false;
    ValueId value;  // in the result
  };

  const Graph& graph_;
  Uses uses_;
  Graph result_;
  GraphCopy copy_;
  std::vector<Saved> mask_;  // per op of graph_
  std::size_t pairs_ = 0;
  std::vector<std::string> notes_;
};

}  // namespace

Pass relu_mask_pass(const Wishes& wishes) {
  Pass pass{"relu_mask", "a mask between relu and its gradient in products", {}};
  if (wishes.relu_mask) pass.run = [](const Graph& graph) { return Mask(graph).run(); };
  return pass;
}

}  // namespace stepscope
