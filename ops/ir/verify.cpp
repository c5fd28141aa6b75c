// Checks of a whole graph. It trusts nothing that Graph::apply checked: passes may grow other ways in.
// SPDX-License-Identifier: Apache-2.0
#include "ops/ir/verify.h"

#include <vector>

#include "ops/base/check.h"
#include "ops/ir/op_def.h"

namespace stepscope {
namespace {

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

  std::string op_text(std::size_t i) const {
    return fmt::format("{}: op {} ({})", who_, i, name(graph_.ops()[i].kind));
  }

  void check_value(ValueId id) const {
    const Value& value = graph_.value(id);
    const Value& owner = graph_.value(value.storage);
    check_type(value.type, who_);
    check((value.sharing == Sharing::own) == (value.storage == id), Fault::bad_graph,
          "{}: {} does not own the storage it claims", who_, graph_.label(id));
    check(owner.sharing == Sharing::own, Fault::bad_graph, "{}: storage of {} is itself shared", who_,
          graph_.label(id));
    check(value.sharing == Sharing::own || value.type.bytes() == owner.type.bytes(),
          Fault::bad_graph, "{}: {} has {} bytes, its storage {} has {}", who_, graph_.label(id),
          value.type.bytes(), graph_.label(value.storage), owner.type.bytes());
    check(value.sharing != Sharing::overwrite || owner.role == Role::parameter ||
              owner.role == Role::state,
          Fault::bad_graph, "{}: {} overwrites {}, which is {}", who_, graph_.label(id),
          graph_.label(value.storage), name(owner.role));
  }

  void check_op(std::size_t i) {
    const Op& op = graph_.ops()[i];
    const OpDef& def = op_def(op.kind);
    check(op.phases != PhaseSet{}, Fault::bad_graph, "{} has no phase", op_text(i));
    std::vector<TensorType> in;
    for (const ValueId id : op.inputs) {
      check_readable(i, id);
      in.push_back(graph_.type(id));
    }
    TypeList out;
    def.infer(in, op.attrs, out);
    check(out.size() == op.outputs.size(), Fault::bad_graph, "{} has {} outputs, its rule says {}",
          op_text(i), op.outputs.size(), out.size());
    for (std::size_t k = 0; k < out.size(); ++k) check_output(i, def, k, out[k]);
  }

  void check_readable(std::size_t i, ValueId id) const {
    const Value& value = graph_.value(id);
    const std::int32_t last = writer_[index(value.storage)];
    check(last != kUnwritten, Fault::bad_graph, "{} reads {} before it is made", op_text(i),
          graph_.label(id));
    check(last == value.producer, Fault::bad_graph,
          "{} reads {} after op {} overwrote its storage {}", op_text(i), graph_.label(id), last,
          graph_.label(value.storage));
  }

  void check_output(std::size_t i, const OpDef& def, std::size_t k, const TensorType& expected) {
    const ValueId id = graph_.ops()[i].outputs[k];
    const Value& value = graph_.value(id);
    check(value.type == expected, Fault::bad_graph, "{}: output {} is {}, its rule says {}",
          op_text(i), k, to_string(value.type), to_string(expected));
    check(value.producer == static_cast<std::int32_t>(i), Fault::bad_graph,
          "{}: output {} names op {} as its maker", op_text(i), k, value.producer);
    const bool overwrites = k < def.overwrites.size() && def.overwrites[k] >= 0;
    check(overwrites == (value.sharing == Sharing::overwrite), Fault::bad_graph,
          "{}: output {} shares storage otherwise than the op says", op_text(i), k);
    const bool saved = (def.saved_outputs >> k & 1U) != 0;
    check(saved == (value.role == Role::saved), Fault::bad_graph, "{}: output {} has role {}",
          op_text(i), k, name(value.role));
    check(overwrites || writer_[index(value.storage)] == kUnwritten, Fault::bad_graph,
          "{}: output {} was made already", op_text(i), k);
    writer_[index(value.storage)] = static_cast<std::int32_t>(i);
  }

  void check_kept(ValueId id) const {
    const Value& value = graph_.value(id);
    check(!value.kept || writer_[index(value.storage)] == value.producer, Fault::bad_graph,
          "{}: {} is kept, but op {} overwrites its storage", who_, graph_.label(id),
          writer_[index(value.storage)]);
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
    check(times <= 1, Fault::bad_graph, "{}: {} is advanced {} times in one step", who_, kStepCount,
          times);
    check(times == 0 || counted_by == last_update, Fault::bad_graph,
          "{} advances {}, but op {} updates after it", op_text(counted_by), kStepCount, last_update);
  }

  const Graph& graph_;
  std::string_view who_;
  std::vector<std::int32_t> writer_;  // per storage: op that wrote it last
};

}  // namespace

void verify(const Graph& graph, std::string_view who) { Verifier(graph, who).run(); }

}  // namespace stepscope
