// small_update: the product that updates a small weight goes into the update of the other
// parameters behind it, where its column sums are used as well: one kernel for all. It waits until
// that update, so whatever reads the new weight before it, or overwrites what the product reads,
// keeps it where it is. Only for backends that wish for it, which say what is small.
// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <optional>
#include <span>
#include <utility>
#include <vector>

#include "graph/passes/fusion.h"
#include "graph/passes/rewrite.h"
#include "ops/base/check.h"
#include "ops/ir/op_def.h"

namespace stepscope {
namespace {

class SmallUpdate {
 public:
  SmallUpdate(const Graph& graph, std::int64_t most)
      : rewrite_(graph), most_(most), taken_(graph.ops().size()) {}

  PassResult run() {
    std::vector<std::size_t> products;
    for (std::size_t i = 0; i < ops().size(); ++i) {
      if (ops()[i].kind == OpKind::MatMulUpdate) products.push_back(i);
    }
    // An update can take one product: the smallest, the first of equals.
    std::stable_sort(products.begin(), products.end(),
                     [this](std::size_t a, std::size_t b) { return weight(a) < weight(b); });
    for (const std::size_t product : products) {
      const std::string reason = merge(product);
      if (reason.empty()) continue;
      rewrite_.note(
          fmt::format("{} keeps its product: {}", label(ops()[product].inputs[0]), reason));
    }
    return rewrite_.finish("no product updates a weight");
  }

 private:
  const Graph& graph() const { return rewrite_.graph(); }
  std::span<const Op> ops() const { return graph().ops(); }
  const Uses& uses() const { return rewrite_.uses(); }
  std::string label(ValueId id) const { return graph().label(graph().storage(id)); }
  std::int64_t weight(std::size_t product) const {
    return graph().type(ops()[product].inputs[0]).shape.elements();
  }
  bool has_sums(std::size_t product) const { return ops()[product].outputs.size() == 2; }

  // The update that the product could go into: the one that reads its sums or, without any, the
  // next. Behind the product, and without a rate.
  std::optional<std::size_t> update_behind(std::size_t product) const {
    const auto takes = [this](std::size_t i) {
      const auto* attrs = std::get_if<SgdAttrs>(&ops()[i].attrs);
      return attrs != nullptr && attrs->scaled_gradient;
    };
    if (has_sums(product)) {
      const std::vector<std::size_t>& readers = uses().readers(ops()[product].outputs[1]);
      if (readers.size() != 1 || !takes(readers.front())) return std::nullopt;
      return readers.front();
    }
    for (std::size_t i = product + 1; i < ops().size(); ++i) {
      if (takes(i)) return i;
    }
    return std::nullopt;
  }

  // Empty when done.
  std::string merge(std::size_t product) {
    if (weight(product) > most_) {
      return fmt::format("it has {} elements, the backend wishes for {} at most", weight(product),
                         most_);
    }
    const std::optional<std::size_t> update = update_behind(product);
    if (!update) {
      return has_sums(product)
                 ? fmt::format("its column sums {} do not go to one update without a rate alone",
                               graph().label(ops()[product].outputs[1]))
                 : "no update without a rate is behind it";
    }
    std::string reason = why_not(product, *update);
    if (reason.empty()) put(product, *update);
    return reason;
  }

  // Why the product cannot wait until the update and be part of it; empty: it can.
  std::string why_not(std::size_t product, std::size_t update) const {
    const Op& op = ops()[product];
    if (taken_[update]) return "the update behind it has a product already";
    if (const std::string reason = why_not_sums(product, update); !reason.empty()) return reason;
    for (const ValueId id : op.inputs) {
      if (uses().overwritten(id, static_cast<std::int64_t>(product), update)) {
        return fmt::format("{} is overwritten before the update behind it is done", label(id));
      }
    }
    const std::vector<std::size_t>& readers = uses().readers(op.outputs[0]);
    if (!readers.empty() && readers.front() <= update) {
      return "it is read before the update behind it is done";
    }
    const DType dtype = graph().type(op.inputs[0]).dtype;
    const DType others = graph().type(ops()[update].inputs[0]).dtype;
    if (dtype != others) {
      return fmt::format("it is {}, the update behind it {}", name(dtype), name(others));
    }
    const std::size_t operands = ops()[update].inputs.size() + 3 - (has_sums(product) ? 1 : 0);
    if (operands > kMaxInputs) {
      return fmt::format("with the update behind it that would be {} operands, {} at most are",
                         operands, kMaxInputs);
    }
    return {};
  }

  // The sums vanish: they must be nothing but the gradient of one parameter.
  std::string why_not_sums(std::size_t product, std::size_t update) const {
    if (!has_sums(product)) return {};
    const ValueId sums = ops()[product].outputs[1];
    if (const std::string reason = uses().why_not_inside(sums); !reason.empty()) return reason;
    if (gradient_of(update, sums)) return {};
    return fmt::format("its column sums {} are read in another shape", graph().label(sums));
  }

  std::size_t tensors(std::size_t update) const {
    return static_cast<std::size_t>(std::get<SgdAttrs>(ops()[update].attrs).tensors);
  }

  // Which tensor of the update has exactly this gradient.
  std::optional<std::size_t> gradient_of(std::size_t update, ValueId gradient) const {
    for (std::size_t t = 0; t < tensors(update); ++t) {
      if (ops()[update].inputs[tensors(update) + t] == gradient) return t;
    }
    return std::nullopt;
  }

  // W, a, b, then the parameters, that of the sums first, their gradients, the step count.
  void put(std::size_t product, std::size_t update) {
    const Op& from = ops()[product];
    const Op& to = ops()[update];
    const auto& attrs = std::get<ProductUpdateAttrs>(from.attrs);
    const bool advance = std::get<SgdAttrs>(to.attrs).advance_step;
    const std::size_t count = tensors(update);
    std::vector<std::size_t> order(count);
    for (std::size_t t = 0; t < count; ++t) order[t] = t;
    if (has_sums(product)) {
      const auto first =
          order.begin() + static_cast<std::ptrdiff_t>(*gradient_of(update, from.outputs[1]));
      std::rotate(order.begin(), first, first + 1);
    }
    NewOp made{.kind = OpKind::MatMulSgdUpdate,
               .attrs = SmallUpdateAttrs{attrs.transpose_a, attrs.transpose_b, has_sums(product),
                                         static_cast<std::int64_t>(count), advance},
               .inputs = from.inputs,
               .outputs = {from.outputs[0]},
               .phases = rewrite_.phases({product, update})};
    for (const std::size_t t : order) made.inputs.push_back(to.inputs[t]);
    for (const std::size_t t : order) {
      const ValueId gradient = to.inputs[count + t];
      if (!has_sums(product) || gradient != from.outputs[1]) made.inputs.push_back(gradient);
    }
    for (const std::size_t t : order) made.outputs.push_back(to.outputs[t]);
    if (advance) {
      made.inputs.push_back(to.inputs.back());
      made.outputs.push_back(to.outputs.back());
    }
    rewrite_.remove(product);
    rewrite_.remove(update);
    taken_[update] = true;
    rewrite_.put(update, std::move(made));
  }

  Rewrite rewrite_;
  std::int64_t most_;
  std::vector<bool> taken_;  // per op: an update that has a product
};

}  // namespace

Pass small_update_pass(const Wishes& wishes) {
  Pass pass{"small_update", "the product of a small weight and the other updates in one op", {}};
  if (wishes.small_product > 0) {
    pass.run = [most = wishes.small_product](const Graph& graph) {
      return SmallUpdate(graph, most).run();
    };
  }
  return pass;
}

}  // namespace stepscope
