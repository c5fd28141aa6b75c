// Checks of a whole graph. It trusts nothing that Graph::apply checked: passes may grow other ways
// in.
// SPDX-License-Identifier: Apache-2.0
#include "ops/ir/verify.h"

#include <optional>
#include <vector>

#include "ops/base/check.h"
#include "ops/ir/op_def.h"

namespace stepscope {
namespace {

// Each law is an `if` of its own: messages are built on the way out only, since a step of 100,000
// ops passes here after every pass.
class Verifier {
 public:
  Verifier(const Graph& graph, std::string_view who) : graph_(graph), who_(who) {}

  void run() {
    for (const ValueId id : graph_.ids()) check_value(id);
    // Which op last wrote each storage: a value may be read only while its own producer did.
    writer_.assign(graph_.values().size(), kDeclared);
    for (const ValueId id : graph_.ids()) {
      const Value& value = graph_.value(id);
      if (value.sharing == Sharing::own && value.producer >= 0) writer_[index(id)] = kUnwritten;
    }
    for (std::size_t i = 0; i < graph_.ops().size(); ++i) check_op(i);
    for (const ValueId id : graph_.ids()) check_kept(id);
    check_step_count();
  }

 private:
  static constexpr std::int32_t kDeclared = -1;
  static constexpr std::int32_t kUnwritten = -2;

  static std::size_t index(ValueId id) { return static_cast<std::size_t>(id.index); }

  template <class... Args>
  [[noreturn]] void broken(fmt::format_string<Args...> format, Args&&... args) const {
    fail(Fault::bad_graph, "{}: {}", who_, fmt::format(format, std::forward<Args>(args)...));
  }

  template <class... Args>
  [[noreturn]] void broken_op(std::size_t i, fmt::format_string<Args...> format,
                              Args&&... args) const {
    broken("op {} ({}){}", i, name(graph_.ops()[i].kind),
           fmt::format(format, std::forward<Args>(args)...));
  }

  bool exists(ValueId id) const { return id.valid() && index(id) < graph_.values().size(); }

  void check_value(ValueId id) const {
    const Value& value = graph_.value(id);
    check_type(value.type, who_);
    if (!exists(value.storage)) broken("{} has no storage", graph_.label(id));
    const Value& owner = graph_.value(value.storage);
    if ((value.sharing == Sharing::own) != (value.storage == id)) {
      broken("{} does not own the storage it claims", graph_.label(id));
    }
    if (owner.sharing != Sharing::own) {
      broken("storage of {} is itself shared", graph_.label(id));
    }
    if (value.sharing != Sharing::own && value.type.bytes() != owner.type.bytes()) {
      broken("{} has {} bytes, its storage {} has {}", graph_.label(id), value.type.bytes(),
             graph_.label(value.storage), owner.type.bytes());
    }
    if (value.producer < 0 && value.type.layout != LayoutId::row_major) {
      broken("{} enters the step as {}, not row-major", graph_.label(id), to_string(value.type));
    }
    const bool may_change = owner.role == Role::parameter || owner.role == Role::state;
    if (value.sharing == Sharing::overwrite && !may_change) {
      broken("{} overwrites {}, which is {}", graph_.label(id), graph_.label(value.storage),
             name(owner.role));
    }
  }

  void check_op(std::size_t i) {
    const Op& op = graph_.ops()[i];
    if (op.phases == PhaseSet{}) broken_op(i, " has no phase");
    std::vector<TensorType> in;
    for (const ValueId id : op.inputs) {
      check_readable(i, id);
      check_layout(i, in.size(), id);
      in.push_back(graph_.type(id));
    }
    TypeList out;
    op_def(op.kind).infer(in, op.attrs, out);
    if (out.size() != op.outputs.size()) {
      broken_op(i, " has {} outputs, its rule says {}", op.outputs.size(), out.size());
    }
    for (std::size_t k = 0; k < out.size(); ++k) check_output(i, k, out[k]);
    for (std::size_t k = 0; k < out.size(); ++k) check_alone(i, k);
  }

  // Who reads what output `k` overwrites, by an input beside it? Only the gradient of an update may
  // be its parameter: kernels read each element of it just before they write that one.
  void check_alone(std::size_t i, std::size_t k) const {
    const Op& op = graph_.ops()[i];
    const int target = overwritten_input(op.kind, op.attrs, op.inputs.size(), k);
    if (target < 0) return;
    const auto at = static_cast<std::size_t>(target);
    const ValueId storage = graph_.storage(op.inputs[at]);
    for (std::size_t other = 0; other < op.inputs.size(); ++other) {
      if (other == at || graph_.storage(op.inputs[other]) != storage) continue;
      if (other == gradient_beside(op, at)) continue;
      broken_op(i, " overwrites {} and reads it as input {}, too", graph_.label(storage), other);
    }
  }

  // Where an elementwise update has the gradient of its parameter `parameter`, if it is one.
  static std::optional<std::size_t> gradient_beside(const Op& op, std::size_t parameter) {
    std::int64_t tensors = 0;
    if (const auto* sgd = std::get_if<SgdAttrs>(&op.attrs)) tensors = sgd->tensors;
    if (const auto* momentum = std::get_if<MomentumAttrs>(&op.attrs)) tensors = momentum->tensors;
    if (const auto* adam = std::get_if<AdamAttrs>(&op.attrs)) tensors = adam->tensors;
    const auto count = static_cast<std::size_t>(tensors);
    if (parameter >= count) return std::nullopt;
    return parameter + count;
  }

  void check_readable(std::size_t i, ValueId id) const {
    if (!exists(id)) broken_op(i, " reads a value that is not in the graph");
    const Value& value = graph_.value(id);
    const std::int32_t last = writer_[index(value.storage)];
    if (last == kUnwritten) broken_op(i, " reads {} before it is made", graph_.label(id));
    if (last != value.producer) {
      broken_op(i, " reads {} after op {} overwrote its storage {}", graph_.label(id), last,
                graph_.label(value.storage));
    }
  }

  void check_layout(std::size_t i, std::size_t k, ValueId id) const {
    const LayoutId layout = graph_.type(id).layout;
    if (layout == LayoutId::row_major || takes_any_layout(op_def(graph_.ops()[i].kind), k)) return;
    broken_op(i, ": input {} must be row-major, {} is {}", k, graph_.label(id),
              to_string(graph_.type(id)));
  }

  void check_output(std::size_t i, std::size_t k, const TensorType& expected) {
    const Op& op = graph_.ops()[i];
    const OpDef& def = op_def(op.kind);
    const ValueId id = op.outputs[k];
    if (!exists(id)) broken_op(i, ": output {} is not in the graph", k);
    const Value& value = graph_.value(id);
    if (value.type != expected) {
      broken_op(i, ": output {} is {}, its rule says {}", k, to_string(value.type),
                to_string(expected));
    }
    if (value.producer != static_cast<std::int32_t>(i)) {
      broken_op(i, ": output {} names op {} as its maker", k, value.producer);
    }
    const int target = overwritten_input(def, op.attrs, op.inputs.size(), k);
    const Sharing sharing = target >= 0 ? Sharing::overwrite : Sharing::own;
    if (value.sharing != sharing ||
        (target >= 0 &&
         value.storage != graph_.storage(op.inputs[static_cast<std::size_t>(target)]))) {
      broken_op(i, ": output {} shares storage otherwise than the op says", k);
    }
    const bool saved = (def.saved_outputs >> k & 1U) != 0;
    if (saved != (value.role == Role::saved)) {
      broken_op(i, ": output {} has role {}", k, name(value.role));
    }
    std::int32_t& writer = writer_[index(value.storage)];
    if (target < 0 && writer != kUnwritten) broken_op(i, ": output {} was made already", k);
    writer = static_cast<std::int32_t>(i);
  }

  void check_kept(ValueId id) const {
    const Value& value = graph_.value(id);
    const std::int32_t last = writer_[index(value.storage)];
    if (value.kept && value.type.layout != LayoutId::row_major) {
      broken("{} is kept, but not row-major: {}", graph_.label(id), to_string(value.type));
    }
    if (value.kept && last != value.producer) {
      broken("{} is kept, but op {} overwrites its storage", graph_.label(id), last);
    }
  }

  void check_step_count() const {
    const std::optional<ValueId> counter = graph_.find(kStepCount);
    if (!counter) return;
    int times = 0;
    std::size_t last_update = 0;
    std::size_t counted_by = 0;
    for (std::size_t i = 0; i < graph_.ops().size(); ++i) {
      for (const ValueId id : graph_.ops()[i].outputs) {
        if (graph_.value(id).sharing != Sharing::overwrite) continue;
        last_update = i;
        if (graph_.storage(id) != *counter) continue;
        ++times;
        counted_by = i;
      }
    }
    if (times > 1) broken("{} is advanced {} times in one step", kStepCount, times);
    if (times == 1 && counted_by != last_update) {
      broken_op(counted_by, " advances {}, but op {} updates after it", kStepCount, last_update);
    }
  }

  const Graph& graph_;
  std::string_view who_;
  std::vector<std::int32_t> writer_;  // per storage: op that wrote it last
};

}  // namespace

void verify(const Graph& graph, std::string_view who) { Verifier(graph, who).run(); }

}  // namespace stepscope
