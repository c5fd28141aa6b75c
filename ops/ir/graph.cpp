// Graph: appending values and ops, with the shape rule run on each.
// SPDX-License-Identifier: Apache-2.0
#include "ops/ir/graph.h"

#include <algorithm>

#include "ops/base/check.h"
#include "ops/ir/op_def.h"

namespace stepscope {

std::string_view name(Role role) {
  switch (role) {
    case Role::input:
      return "input";
    case Role::parameter:
      return "parameter";
    case Role::state:
      return "state";
    case Role::computed:
      return "computed";
    case Role::saved:
      return "saved";
  }
  return "?";
}

ValueId Graph::add_value(Value value) {
  const ValueId id{static_cast<std::int32_t>(values_.size())};
  if (!value.storage.valid()) value.storage = id;
  values_.push_back(std::move(value));
  return id;
}

void Graph::check_name(std::string_view value_name) const {
  check(!find(value_name), Fault::bad_graph, "graph: the name '{}' is taken", value_name);
}

ValueId Graph::declare(Role role, const TensorType& type, std::string value_name) {
  check(role == Role::input || role == Role::parameter || role == Role::state, Fault::bad_graph,
        "declare '{}': a {} value is made by an op, not declared", value_name, name(role));
  check(!value_name.empty(), Fault::bad_graph, "declare: {} values need a name", name(role));
  check_name(value_name);
  check_type(type, value_name);
  return add_value({.type = type, .role = role, .name = std::move(value_name)});
}

std::vector<ValueId> Graph::apply(OpKind kind, std::vector<ValueId> inputs, Attrs attrs) {
  const OpDef& def = op_def(kind);
  std::vector<TensorType> in;
  in.reserve(inputs.size());
  for (const ValueId id : inputs) {
    check(id.valid() && static_cast<std::size_t>(id.index) < values_.size(), Fault::bad_graph,
          "{}: input {} is no value of this graph", def.name, in.size());
    check(type(id).layout == LayoutId::row_major || takes_any_layout(def, in.size()),
          Fault::bad_graph, "{}: input {} must be row-major, {} is {}", def.name, in.size(),
          label(id), to_string(type(id)));
    in.push_back(type(id));
  }
  check(in.size() <= kMaxInputs, Fault::bad_graph, "{}: {} inputs, at most {} are allowed",
        def.name, in.size(), kMaxInputs);
  TypeList out;
  def.infer(in, attrs, out);

  std::vector<Value> values;  // added when all are known to be right
  for (std::size_t i = 0; i < out.size(); ++i) {
    check_type(out[i], def.name);
    Value made{.type = out[i], .producer = static_cast<std::int32_t>(ops_.size())};
    if ((def.saved_outputs >> i & 1U) != 0) made.role = Role::saved;
    if (const int target = overwritten_input(def, attrs, inputs.size(), i); target >= 0) {
      const ValueId old = inputs[static_cast<std::size_t>(target)];
      const Value& owner = value(storage(old));
      check(owner.role == Role::parameter || owner.role == Role::state, Fault::bad_graph,
            "{}: output {} would overwrite {}, which is {}, not a parameter or state", def.name, i,
            label(old), name(owner.role));
      made.sharing = Sharing::overwrite;
      made.storage = storage(old);
    }
    values.push_back(std::move(made));
  }
  std::vector<ValueId> outputs;
  outputs.reserve(values.size());
  for (Value& made : values) outputs.push_back(add_value(std::move(made)));
  ops_.push_back({kind, std::move(attrs), std::move(inputs), outputs, phases_});
  return outputs;
}

ValueId Graph::apply1(OpKind kind, std::vector<ValueId> inputs, Attrs attrs) {
  const std::vector<ValueId> outputs = apply(kind, std::move(inputs), std::move(attrs));
  check(outputs.size() == 1, Fault::bad_graph, "{}: has {} outputs, one was expected", name(kind),
        outputs.size());
  return outputs.front();
}

ValueId Graph::reshape(ValueId source, const Shape& shape) {
  const Value& from = value(source);
  check(from.type.layout == LayoutId::row_major, Fault::bad_graph,
        "Reshape: takes a row-major value, {} is {}", label(source), to_string(from.type));
  const TensorType to{shape, from.type.dtype};
  check_type(to, "Reshape");
  check(shape.elements() == from.type.shape.elements(), Fault::bad_graph,
        "Reshape: {} has {} elements, {} has {}", to_string(from.type.shape),
        from.type.shape.elements(), to_string(shape), shape.elements());
  return add_value({.type = to,
                    .role = from.role,
                    .sharing = Sharing::view,
                    .storage = from.storage,
                    .producer = from.producer});
}

ValueId Graph::source(ValueId id) const {
  const Value& shown = value(id);
  if (shown.sharing != Sharing::view) return id;
  if (shown.producer < 0) return shown.storage;
  const std::vector<ValueId>& made = ops_[static_cast<std::size_t>(shown.producer)].outputs;
  return *std::find_if(made.begin(), made.end(),
                       [&](ValueId each) { return storage(each) == shown.storage; });
}

void Graph::keep(ValueId id, std::string value_name) {
  Value& kept = values_[static_cast<std::size_t>(id.index)];
  kept.kept = true;
  if (value_name.empty() || value_name == kept.name) return;
  check(kept.name.empty(), Fault::bad_graph, "keep: value '{}' has a name, '{}' would be a second",
        kept.name, value_name);
  check_name(value_name);
  kept.name = std::move(value_name);
}

std::optional<ValueId> Graph::find(std::string_view value_name) const {
  const auto at = std::find_if(values_.begin(), values_.end(),
                               [&](const Value& each) { return each.name == value_name; });
  if (value_name.empty() || at == values_.end()) return std::nullopt;
  return ValueId{static_cast<std::int32_t>(at - values_.begin())};
}

std::string Graph::label(ValueId id) const {
  const std::string& known = value(id).name;
  return known.empty() ? fmt::format("%{}", id.index) : known;
}

std::vector<ValueId> Graph::ids() const {
  std::vector<ValueId> all;
  all.reserve(values_.size());
  for (std::int32_t i = 0; i < static_cast<std::int32_t>(values_.size()); ++i) all.push_back({i});
  return all;
}

}  // namespace stepscope
