// fold_sgd: every loss gradient is multiplied by the rate, so that all that follows from it is what
// SGD subtracts; a product that makes a weight gradient then subtracts it itself, W -= X^T dZ, and
// the gradient need not exist. All or nothing: once the loss gradient carries the rate, every
// gradient does.
//
// The trap is the order. A product must not stand where the gradient was made: the gradient of the
// layer's input may still read the old W, and a loss would not show it at the first step. It stands
// where its update stood, and whoever reads the old W stood before that.
// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <optional>

#include "graph/passes/fusion.h"
#include "graph/passes/gradient_flow.h"
#include "graph/passes/rewrite.h"
#include "ops/base/check.h"
#include "ops/ir/op_def.h"

namespace stepscope {
namespace {

struct Product {
  OpKind kind{};
  Attrs attrs;
  bool bias_grad = false;
};

// The op that subtracts what `op` makes as its output 0; none: there is no such op.
std::optional<Product> updating(const Op& op) {
  switch (op.kind) {
    case OpKind::MatMul:
    case OpKind::MatMulBiasGrad: {
      const auto& from = std::get<MatMulAttrs>(op.attrs);
      const bool bias = op.kind == OpKind::MatMulBiasGrad;
      return Product{OpKind::MatMulUpdate,
                     ProductUpdateAttrs{from.transpose_a, from.transpose_b, bias}, bias};
    }
    case OpKind::Conv2dWeightGrad:
    case OpKind::Conv2dWeightBiasGrad: {
      const auto& from = std::get<Conv2dGradAttrs>(op.attrs);
      const bool bias = op.kind == OpKind::Conv2dWeightBiasGrad;
      return Product{OpKind::Conv2dWeightUpdate,
                     Conv2dUpdateAttrs{from.stride_h, from.stride_w, from.pad_h, from.pad_w, bias},
                     bias};
    }
    default:
      return std::nullopt;
  }
}

class Fold {
 public:
  explicit Fold(const Graph& graph) : rewrite_(graph), place_(graph.ops().size()) {
    for (std::size_t i = 0; i < place_.size(); ++i) place_[i] = i;
  }

  PassResult run() {
    flow_ = gradient_flow(graph(), rewrite_.uses());
    if (!flow_.refusal.empty()) return {graph(), {flow_.refusal}};
    for (const std::size_t update : flow_.updates) {
      if (!can_be_product(update)) continue;
      products_.push_back(update);
    }
    hand_over_step();
    if (products_.empty()) return rewrite_.finish("no product makes a weight gradient");
    scale_sources();
    for (const std::size_t update : products_) put_product(update);
    for (const std::size_t update : flow_.updates) {
      if (!is_product(update)) put_scaled(update);
    }
    return rewrite_.finish({});
  }

 private:
  const Graph& graph() const { return rewrite_.graph(); }
  const Op& op(std::size_t i) const { return rewrite_.op(i); }
  bool is_product(std::size_t update) const {
    return std::find(products_.begin(), products_.end(), update) != products_.end();
  }
  bool counts_step(std::size_t update) const {
    return std::get<SgdAttrs>(op(update).attrs).advance_step;
  }

  bool stays(std::size_t update, std::string_view why) {
    rewrite_.note(fmt::format("{} keeps its update: {}",
                              graph().label(graph().storage(op(update).inputs[0])), why));
    return false;
  }

  bool can_be_product(std::size_t update) {
    const ValueId parameter = op(update).inputs[0];
    const ValueId gradient = op(update).inputs[1];
    const std::optional<std::size_t> maker = rewrite_.uses().maker(gradient);
    if (!maker) return false;
    const std::optional<Product> product = updating(op(*maker));
    if (!product || op(*maker).outputs[0] != gradient) return false;
    for (const ValueId id : op(*maker).inputs) {
      if (graph().storage(id) == graph().storage(parameter)) {
        return stays(update, "its gradient is made from it");
      }
      if (rewrite_.uses().overwritten(id, static_cast<std::int64_t>(*maker), update)) {
        return stays(update, fmt::format("{} is overwritten before it", graph().label(id)));
      }
    }
    return !product->bias_grad || make_way(op(*maker).outputs[1], update);
  }

  // The bias gradient comes with the product, so whoever reads it moves behind.
  bool make_way(ValueId sums, std::size_t update) {
    for (const std::size_t reader : rewrite_.uses().readers(sums)) {
      if (reader > update) continue;
      if (op(reader).kind != OpKind::SgdUpdate || !can_move(reader, update)) {
        return stays(update, fmt::format("{} is read before it", graph().label(sums)));
      }
      place_[reader] = update;
    }
    return true;
  }

  // Could the update stand at a later place, as far as others go? Nobody overwrites what it reads:
  // a second update of the parameter would read its result, and the rate stays as it is.
  bool can_move(std::size_t update, std::size_t place) const {
    return std::all_of(op(update).outputs.begin(), op(update).outputs.end(), [&](ValueId id) {
      const std::vector<std::size_t>& readers = rewrite_.uses().readers(id);
      return readers.empty() || readers.front() > place;
    });
  }

  // If the update that counts the step becomes a product, the last of the others counts it, at the
  // end; if no other can, it stays an update.
  void hand_over_step() {
    const auto last = std::find_if(products_.begin(), products_.end(),
                                   [&](std::size_t each) { return counts_step(each); });
    if (last == products_.end()) return;
    counted_by_ = *last;
    const std::size_t end = graph().ops().size();
    if (rewrite_.uses().readers(op(*last).outputs[1]).empty()) {
      for (std::size_t i = flow_.updates.size(); i-- > 0;) {
        const std::size_t other = flow_.updates[i];
        if (is_product(other) || !can_move(other, end)) continue;
        counts_now_ = other;
        place_[other] = end;
        return;
      }
    }
    counts_now_ = *last;
    stays(*last, "the last update counts the step, and no other can be the last");
    products_.erase(last);
  }

  void scale_sources() {
    move_schedule();
    for (const std::size_t i : flow_.sources) {
      std::vector<ValueId> inputs = op(i).inputs;
      inputs.push_back(flow_.rate);
      rewrite_.remove(i);
      rewrite_.put(i, {op(i).kind, op(i).attrs, std::move(inputs), op(i).outputs, op(i).phases});
    }
  }

  // The rate is needed where the loss gradient is made.
  void move_schedule() {
    const std::size_t first = flow_.sources.front();
    if (!flow_.schedule || *flow_.schedule < first) return;
    const Op& made = op(*flow_.schedule);
    rewrite_.remove(*flow_.schedule);
    rewrite_.put(first, {made.kind, made.attrs, made.inputs, made.outputs, made.phases});
  }

  void put_product(std::size_t update) {
    const ValueId parameter = op(update).inputs[0];
    const std::size_t maker = *rewrite_.uses().maker(op(update).inputs[1]);
    Product product = *updating(op(maker));
    std::vector<ValueId> outputs = {op(update).outputs[0]};
    if (product.bias_grad) outputs.push_back(op(maker).outputs[1]);
    rewrite_.remove(maker);
    rewrite_.remove(update);
    rewrite_.put(update, {product.kind,
                          std::move(product.attrs),
                          {parameter, op(maker).inputs[0], op(maker).inputs[1]},
                          std::move(outputs),
                          rewrite_.phases({maker, update})});
  }

  void put_scaled(std::size_t update) {
    const bool counts = counts_now_ ? update == *counts_now_ : counts_step(update);
    std::vector<ValueId> inputs = {op(update).inputs[0], op(update).inputs[1]};
    std::vector<ValueId> outputs = {op(update).outputs[0]};
    if (counts) {
      const Op& from = op(counted_by_.value_or(update));
      inputs.push_back(from.inputs[3]);
      outputs.push_back(from.outputs[1]);
    }
    rewrite_.remove(update);
    rewrite_.put(place_[update], {OpKind::SgdUpdate, SgdAttrs{counts, 1, true}, std::move(inputs),
                                  std::move(outputs), op(update).phases});
  }

  Rewrite rewrite_;
  GradientFlow flow_;
  std::vector<std::size_t> place_;                      // per op
  std::vector<std::size_t> products_;                   // updates that become products
  std::optional<std::size_t> counted_by_, counts_now_;  // where the step's count moves
};

}  // namespace

PassResult fold_sgd(const Graph& graph) { return Fold(graph).run(); }

}  // namespace stepscope
