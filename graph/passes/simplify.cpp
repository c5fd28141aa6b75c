// simplify: decides on the given graph what stands for what, then copies the ops that are still
// needed. Refuses what can change bits: an added zero stays, since -0 + 0 is +0.
// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <array>
#include <unordered_map>
#include <utility>

#include "graph/passes/pass.h"
#include "ops/ir/copy.h"
#include "ops/ir/op_def.h"

namespace stepscope {
namespace {

std::size_t at(ValueId id) { return static_cast<std::size_t>(id.index); }

// What must be equal for two ops to compute the same: kind, phases, attributes, inputs. Packed
// attributes tell 0 from -0, which == does not.
using Key = std::vector<std::uint64_t>;

struct KeyHash {
  std::size_t operator()(const Key& key) const {
    std::uint64_t hash = 0xcbf29ce484222325;  // FNV-1a, by words
    for (const std::uint64_t word : key) hash = (hash ^ word) * 0x100000001b3;
    return static_cast<std::size_t>(hash ^ hash >> 32);
  }
};

class Simplifier {
 public:
  explicit Simplifier(const Graph& graph)
      : graph_(graph),
        stand_in_(graph.ids()),
        kept_(graph.values().size()),
        overwritten_(graph.values().size()),
        fate_(graph.ops().size(), Fate::copied),
        live_(graph.ops().size()) {
    for (const ValueId id : graph.ids()) {
      kept_[at(id)] = graph.value(id).kept;
      if (graph.value(id).sharing == Sharing::overwrite) overwritten_[at(graph.storage(id))] = true;
    }
  }

  Graph run() {
    for (std::size_t i = 0; i < graph_.ops().size(); ++i) decide(i);
    mark_live();
    return copy();
  }

 private:
  enum class Fate : std::uint8_t { copied, replaced, without_last_input };

  bool has_effects(const Op& op) const {
    return op_def(op.kind).stateful ||
           std::any_of(op.outputs.begin(), op.outputs.end(),
                       [&](ValueId id) { return graph_.value(id).sharing == Sharing::overwrite; });
  }

  // Made by a Fill of ones, or a view of what such a Fill made.
  bool is_ones(ValueId id) const {
    const std::int32_t maker = graph_.value(stand_in_[at(id)]).producer;
    if (maker < 0) return false;
    const Op& op = graph_.ops()[static_cast<std::size_t>(maker)];
    return op.kind == OpKind::Fill && std::get<FillAttrs>(op.attrs).value == 1.0;
  }

  // The input that a multiplication by one gives back; invalid for any other op. x * 1 is x, bit
  // for bit, for every x (of a NaN the payload may change, which no rule of ours promises).
  ValueId unchanged_input(const Op& op) const {
    if (op.kind == OpKind::Scale) {
      return std::get<ScaleAttrs>(op.attrs).factor == 1.0 ? op.inputs[0] : ValueId{};
    }
    if (op.kind != OpKind::Mul) return {};
    if (is_ones(op.inputs[1])) return op.inputs[0];
    return is_ones(op.inputs[0]) ? op.inputs[1] : ValueId{};
  }

  // `other` holds the same bits as `id`; may it do so in its place to the end of the step?
  bool may_stand_for(ValueId other, ValueId id) const {
    if (overwritten_[at(graph_.storage(other))]) return false;  // its bits are gone too early
    // A kept value is found by its name, and no value has two.
    const Value& value = graph_.value(other);
    const bool is_declared = value.producer < 0 && value.sharing == Sharing::own;
    return !kept_[at(id)] || (!kept_[at(other)] && !is_declared);
  }

  bool replace(std::size_t i, std::span<const ValueId> others) {
    const std::vector<ValueId>& outputs = graph_.ops()[i].outputs;
    for (std::size_t k = 0; k < outputs.size(); ++k) {
      if (!may_stand_for(others[k], outputs[k])) return false;
    }
    for (std::size_t k = 0; k < outputs.size(); ++k) {
      stand_in_[at(outputs[k])] = others[k];
      if (kept_[at(outputs[k])]) kept_[at(others[k])] = true;
    }
    fate_[i] = Fate::replaced;
    return true;
  }

  void decide(std::size_t i) {
    const Op& op = graph_.ops()[i];
    if (has_effects(op)) return;
    if (const ValueId input = unchanged_input(op); input.valid()) {
      if (replace(i, std::array{stand_in_[at(input)]})) return;
    }
    if (op.kind == OpKind::SoftmaxCrossEntropyGrad && op.inputs.size() == 3 &&
        is_ones(op.inputs[2])) {
      fate_[i] = Fate::without_last_input;
    }
    // A ValueId names one version of a storage, and the verifier lets nobody read it after a later
    // op overwrote it. So equal ids are equal bits, wherever the two ops stand.
    const auto [first, is_new] = first_with_.try_emplace(key(i), i);
    if (!is_new) replace(i, graph_.ops()[first->second].outputs);
  }

  Key key(std::size_t i) const {
    const Op& op = graph_.ops()[i];
    std::array<std::uint64_t, kMaxAttrWords> attrs{};
    Key words = {static_cast<std::uint64_t>(op.kind), op.phases.bits()};
    words.insert(words.end(), attrs.data(), pack(op.attrs, attrs.data()));
    for (std::size_t k = 0; k < inputs_of(i); ++k) {
      words.push_back(static_cast<std::uint64_t>(stand_in_[at(op.inputs[k])].index));
    }
    return words;
  }

  std::size_t inputs_of(std::size_t i) const {
    return graph_.ops()[i].inputs.size() - (fate_[i] == Fate::without_last_input ? 1 : 0);
  }

  void need(ValueId id) {
    const std::int32_t maker = graph_.value(id).producer;
    if (maker >= 0) live_[static_cast<std::size_t>(maker)] = true;
  }

  void mark_live() {
    for (const ValueId id : graph_.ids()) {
      if (graph_.value(id).kept) need(id);
    }
    for (std::size_t i = graph_.ops().size(); i-- > 0;) {
      const Op& op = graph_.ops()[i];
      live_[i] = live_[i] || has_effects(op);
      if (!live_[i]) continue;
      if (fate_[i] == Fate::replaced) {
        for (const ValueId id : op.outputs) need(stand_in_[at(id)]);
      } else {
        for (std::size_t k = 0; k < inputs_of(i); ++k) need(op.inputs[k]);
      }
    }
  }

  Graph copy() const {
    Graph result;
    GraphCopy copy(graph_, result);
    for (std::size_t i = 0; i < graph_.ops().size(); ++i) {
      if (!live_[i]) continue;
      const Op& op = graph_.ops()[i];
      switch (fate_[i]) {
        case Fate::copied:
          copy.copy(i);
          break;
        case Fate::replaced:
          for (const ValueId id : op.outputs) copy.map(id, copy(stand_in_[at(id)]));
          break;
        case Fate::without_last_input: {
          std::vector<ValueId> inputs;
          for (std::size_t k = 0; k < inputs_of(i); ++k) inputs.push_back(copy(op.inputs[k]));
          result.enter(op.phases);
          copy.map(op.outputs[0], result.apply1(op.kind, std::move(inputs), op.attrs));
          break;
        }
      }
    }
    copy.finish();
    return result;
  }

  const Graph& graph_;
  std::vector<ValueId> stand_in_;  // per value: itself, or an earlier value with the same bits
  std::vector<bool> kept_;         // per value: itself, or one that it stands for
  std::vector<bool> overwritten_;  // per storage: by any op
  std::vector<Fate> fate_;         // per op
  std::vector<bool> live_;         // per op
  std::unordered_map<Key, std::size_t, KeyHash> first_with_;  // op
};

}  // namespace

Graph simplify(const Graph& graph) { return Simplifier(graph).run(); }

}  // namespace stepscope
