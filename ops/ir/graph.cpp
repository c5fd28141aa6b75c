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

bool is_name(std::string_view text) {
  const auto is_letter = [](char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_';
  };
  return !text.empty() && text.size() <= kMaxNameLength && is_letter(text.front()) &&
         std::all_of(text.begin(), text.end(),
                     [&](char c) { return is_letter(c) || (c >= '0' && c <= '9') || c == '.'; });
}

ValueId Graph::add_value(Value value) {
  const ValueId id{static_cast<std::int32_t>(values_.size())};
  if (!value.storage.valid()) value.storage = id;
  if (!value.name.empty()) names_.emplace(value.name, id);
  values_.push_back(std::move(value));
  return id;
}

void Graph::check_name(std::string_view value_name) const {
  if (!is_name(value_name)) {
    fail(Fault::bad_graph,
         "graph: '{}' is no name: a letter or _, then letters, digits, _ and dots, {} at most",
         value_name.substr(0, kMaxNameLength), kMaxNameLength);
  }
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
    Value made{.type = out[i],
               .producer = static_cast<std::int32_t>(ops_.size()),
               .number = outputs_ + static_cast<std::int32_t>(i)};
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
  outputs_ += static_cast<std::int32_t>(values.size());
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
  const auto at = std::find_if(made.begin(), made.end(),
                               [&](ValueId each) { return storage(each) == shown.storage; });
  check(at != made.end(), Fault::bad_graph, "graph: value {} shows nothing that op {} makes",
        id.index, shown.producer);
  return *at;
}

void Graph::keep(ValueId id, std::string value_name) {
  Value& kept = values_[static_cast<std::size_t>(id.index)];
  kept.kept = true;
  if (value_name.empty() || value_name == kept.name) return;
  check(kept.name.empty(), Fault::bad_graph, "keep: value '{}' has a name, '{}' would be a second",
        kept.name, value_name);
  check_name(value_name);
  names_.emplace(value_name, id);
  kept.name = std::move(value_name);
}

void Graph::rename(ValueId id, std::string value_name) {
  Value& named = values_[static_cast<std::size_t>(id.index)];
  const bool is_declared = named.producer < 0 && named.sharing == Sharing::own;
  check(!is_declared && !named.kept, Fault::bad_graph, "rename: {} is {}, its name stays",
        label(id), is_declared ? "declared" : "kept");
  if (value_name == named.name) return;
  check_name(value_name);
  names_.erase(named.name);
  names_.emplace(value_name, id);
  named.name = std::move(value_name);
}

std::optional<ValueId> Graph::find(std::string_view value_name) const {
  const auto at = names_.find(std::string(value_name));
  if (at == names_.end()) return std::nullopt;
  return at->second;
}

std::string Graph::label(ValueId id) const {
  const Value& value = values_[static_cast<std::size_t>(id.index)];
  if (!value.name.empty()) return value.name;
  if (value.sharing != Sharing::view) return fmt::format("%{}", value.number);
  return label(source(id)) + to_string(value.type.shape);
}

std::vector<ValueId> Graph::ids() const {
  std::vector<ValueId> all;
  all.reserve(values_.size());
  for (std::int32_t i = 0; i < static_cast<std::int32_t>(values_.size()); ++i) all.push_back({i});
  return all;
}

}  // namespace stepscope
