// Checks of a step file as a model, and the graphs made from it.
// SPDX-License-Identifier: Apache-2.0
#include "ops/models/step_model.h"

#include <algorithm>
#include <memory>
#include <unordered_map>

#include "ops/autodiff/backward.h"
#include "ops/base/check.h"
#include "ops/ir/build.h"
#include "ops/ir/op_def.h"
#include "ops/ir/verify.h"
#include "ops/models/settings.h"

namespace stepscope {
namespace {

constexpr std::string_view kCorrect = "correct";  // what an evaluation with labels counts

const DeclarationText* find_declared(const StepFile& file, std::string_view name) {
  const auto at = std::find_if(file.declarations.begin(), file.declarations.end(),
                               [&](const DeclarationText& each) { return each.name == name; });
  return at == file.declarations.end() ? nullptr : &*at;
}

Initial initial_of(const DeclarationText& declared) {
  const InitialText& text = *declared.initial;
  Initial initial{.name = declared.name};
  switch (text.kind) {
    case InitialText::Kind::zeros:
      break;
    case InitialText::Kind::constant:
      initial.value = text.value;
      break;
    case InitialText::Kind::he:
      initial.kind = Initial::Kind::he_normal;
      initial.fan_in = text.fan_in;
      break;
    case InitialText::Kind::uniform:
      initial.kind = Initial::Kind::uniform;
      initial.low = text.low;
      initial.high = text.high;
      break;
    case InitialText::Kind::file:
      initial.kind = Initial::Kind::file;
      initial.file = text.file;
      initial.tensor = text.tensor;
      break;
  }
  return initial;
}

// What each batch's graph is made from.
struct Source {
  StepFile file;
  std::string name;
  OptimizerSpec optimizer;
  std::string logits;  // the value that CorrectCount reads; empty: no labels
};

std::vector<ValueId> parameters_of(const Graph& graph) {
  std::vector<ValueId> all;
  for (const ValueId id : graph.ids()) {
    const Value& value = graph.value(id);
    if (value.role == Role::parameter && value.sharing == Sharing::own) all.push_back(id);
  }
  return all;
}

// Says whose step it is that does not work.
template <class Action>
Graph made_of(const Source& source, Action&& action) {
  try {
    return action();
  } catch (const Error& error) {
    const std::string_view message = error.what();
    if (message.starts_with(source.file.who)) fail(Fault::bad_input, "{}", message);
    fail(Fault::bad_input, "{}: {}", source.file.who, message);
  }
}

Graph forward(const Source& source, std::int64_t batch) {
  Graph graph = instantiate(source.file, batch);
  graph.keep(*graph.find("loss"));
  return graph;
}

Graph step(const Source& source, std::int64_t batch) {
  return made_of(source, [&] {
    Graph graph = forward(source, batch);
    graph.enter(Phase::backward);
    const std::vector<ValueId> parameters = parameters_of(graph);
    const auto gradients = add_backward(graph, *graph.find("loss"), parameters);
    append_updates(graph, parameters, gradients, source.optimizer);
    verify(graph, source.name + " step");
    return graph;
  });
}

Graph evaluation(const Source& source, std::int64_t batch) {
  return made_of(source, [&] {
    Graph graph = forward(source, batch);
    if (!source.logits.empty()) {
      graph.enter(Phase::loss);
      graph.keep(build::correct_count(graph, *graph.find(source.logits), *graph.find("labels")),
                 std::string(kCorrect));
    }
    verify(graph, source.name + " evaluation");
    return graph;
  });
}

class Checker {
 public:
  explicit Checker(const StepFile& file) : file_(file), graph_(instantiate(file, 1)) {
    for (const auto& line : file.lines) {
      if (const auto* call = std::get_if<CallText>(&line)) calls_.push_back(call);
    }
  }

  void run() {
    check_names();
    for (const DeclarationText& each : file_.declarations) check_declared(each);
    if (find_declared(file_, "x") == nullptr) lacks("input x : f32{B, ...}");
    for (std::size_t i = 0; i < calls_.size(); ++i) check_call(i);
    check_loss();
    check_labels();
    check_parameters();
    check_kept();
  }

  std::int64_t classes() const { return classes_; }
  std::string logits() const { return logits_; }

 private:
  [[noreturn]] void wrong(Place place, std::string_view message) const {
    fail_at(file_.who, place, message);
  }
  [[noreturn]] void lacks(std::string_view what) const {
    fail(Fault::bad_input, "{}: there is no `{}`", file_.who, what);
  }

  // ---- Names: those that derived values have are free in a step file, whatever the optimizer.

  void check_names() const {
    std::unordered_map<std::string, std::string> taken = {
        {std::string(kCorrect), "the count of correct rows"}};
    for (const DeclarationText& each : file_.declarations) {
      if (each.role == Role::parameter) take_states(each, taken);
    }
    const auto check_free = [&](const std::string& text, Place place) {
      if (text.starts_with("control.")) {
        wrong(place, fmt::format("'{}': names that begin with control. are those of the rate and "
                                 "the count of steps; choose another",
                                 text));
      }
      const auto known = taken.find(text);
      if (known == taken.end()) return;
      wrong(place, fmt::format("'{}' is the name of {}; choose another", text, known->second));
    };
    for (const DeclarationText& each : file_.declarations) check_free(each.name, each.place);
    for (const auto& line : file_.lines) {
      if (const auto* call = std::get_if<CallText>(&line)) {
        for (const OutputText& each : call->outputs) check_free(each.name, each.place);
      } else {
        const OutputText& view = std::get<ViewText>(line).view;
        check_free(view.name, view.place);
      }
    }
  }

  void take_states(const DeclarationText& parameter,
                   std::unordered_map<std::string, std::string>& taken) const {
    for (const auto kind : {OptimizerSpec::Kind::momentum, OptimizerSpec::Kind::adam}) {
      for (std::string& state : state_names(kind, parameter.name)) {
        if (state.size() > kMaxNameLength) {
          wrong(parameter.place,
                fmt::format("parameter '{}': the state that {} adds would have {} characters in "
                            "its name, at most {} are allowed; choose a shorter name",
                            parameter.name, name(kind), state.size(), kMaxNameLength));
        }
        taken.emplace(std::move(state), fmt::format("a state that {} adds to parameter '{}'",
                                                    name(kind), parameter.name));
      }
    }
  }

  // The update overwrites parameters: kept, they would not be what the step was computed with.
  void check_kept() const {
    std::unordered_map<std::string, ValueId> storage;
    for (const DeclarationText& each : file_.declarations) {
      storage[each.name] = *graph_.find(each.name);
    }
    std::size_t i = 0;
    for (const auto& line : file_.lines) {
      if (const auto* view = std::get_if<ViewText>(&line)) {
        storage[view->view.name] = storage.at(view->shown.name);
        continue;
      }
      const Op& op = graph_.ops()[i];
      for (std::size_t k = 0; k < op.outputs.size(); ++k) {
        storage[calls_[i]->outputs[k].name] = graph_.storage(op.outputs[k]);
      }
      ++i;
    }
    for (const OperandText& each : file_.kept) {
      check_kept(each, graph_.value(storage.at(each.name)));
    }
  }

  void check_kept(const OperandText& kept, const Value& value) const {
    if (value.role == Role::parameter) {
      wrong(kept.place, fmt::format("keep reads parameter '{}', which the update overwrites; it is "
                                    "readable anyway, take this out",
                                    value.name));
    }
    if (value.role == Role::saved) wrong(kept.place, of_saved("keep", kept.name, value));
  }

  void check_declared(const DeclarationText& declared) {
    switch (declared.role) {
      case Role::input:
        return check_input(declared);
      case Role::parameter:
        if (declared.type.dtype != DType::f32) {
          wrong(declared.type.place, fmt::format("parameter '{}' is {}, expected f32",
                                                 declared.name, name(declared.type.dtype)));
        }
        if (!declared.initial) {
          wrong(declared.place, fmt::format("parameter '{}' has no start, expected one, as in "
                                            "`= he` or `= zeros`",
                                            declared.name));
        }
        return;
      default:
        wrong(declared.place,
              fmt::format("state '{}': a step file declares no states, they come with the "
                          "optimizer; take it out",
                          declared.name));
    }
  }

  static bool is_batch(const Expression& dim) {
    return dim.factors.size() == 1 && dim.factors[0].kind == Factor::Kind::batch;
  }

  void check_input(const DeclarationText& declared) {
    const TypeText& type = declared.type;
    const bool by_rows = !type.dims.empty() && is_batch(type.dims[0]) &&
                         std::none_of(type.dims.begin() + 1, type.dims.end(),
                                      [](const Expression& each) { return each.has_batch(); });
    if (declared.name == "x") {
      if (!by_rows || type.dims.size() < 2 || type.dtype != DType::f32) {
        wrong(type.place, fmt::format("input x is {}, expected f32{{B, ...}}", to_string(type)));
      }
    } else if (declared.name == "labels") {
      if (!by_rows || type.dims.size() != 1 || type.dtype != DType::i32) {
        wrong(type.place, fmt::format("input labels is {}, expected i32{{B}}", to_string(type)));
      }
    } else {
      wrong(declared.place,
            fmt::format("input '{}': the data has x and labels alone; take it out", declared.name));
    }
  }

  void check_call(std::size_t i) {
    const CallText& call = *calls_[i];
    for (const Phase phase : kPhases) {
      if (phase == Phase::forward || phase == Phase::loss || !call.phases.contains(phase)) continue;
      wrong(call.place, fmt::format("{} in phase {}: a step file says forward and loss alone, the "
                                    "rest is derived; take it out",
                                    name(call.kind), name(phase)));
    }
    const Op& op = graph_.ops()[i];
    for (const ValueId id : op.outputs) {
      if (graph_.value(id).sharing == Sharing::overwrite) {
        wrong(call.place, fmt::format("{} overwrites {}: updates are derived; take it out",
                                      name(call.kind), graph_.label(graph_.storage(id))));
      }
      if (graph_.type(id).layout != LayoutId::row_major) {
        wrong(call.place, fmt::format("{} makes {}: layouts are a backend's own; take it out",
                                      name(call.kind), to_string(graph_.type(id))));
      }
    }
    for (std::size_t k = 0; k < op.inputs.size(); ++k) {
      const Value& read = graph_.value(graph_.storage(op.inputs[k]));
      if (read.role != Role::saved) continue;
      wrong(call.inputs[k].place, of_saved(name(call.kind), call.inputs[k].name, read));
    }
    check_trusting(call, op);
  }

  std::string of_saved(std::string_view who, std::string_view read, const Value& saved) const {
    const Op& maker = graph_.ops()[static_cast<std::size_t>(saved.producer)];
    return fmt::format("{} reads {}: what {} saves for its gradient is for that alone; take it out",
                       who, read, name(maker.kind));
  }

  // Kernels trust indices and what other ops saved for them: those come from the data, which is
  // checked as it is loaded, and from derived ops.
  void check_trusting(const CallText& call, const Op& op) const {
    const bool tells = op.kind == OpKind::Argmax;
    if (op_def(op.kind).vjp == nullptr && !tells) {
      wrong(call.place, fmt::format("{} has no gradient rule: it is for derived ops; take it out",
                                    name(call.kind)));
    }
    if (op.kind == OpKind::Gather || op.kind == OpKind::ScatterAdd) {
      wrong(call.place, fmt::format("{} takes indices, which a step file has none of; take it out",
                                    name(call.kind)));
    }
    if (op.kind != OpKind::SoftmaxCrossEntropy) return;
    const std::optional<ValueId> labels = graph_.find("labels");
    if (!labels || graph_.storage(op.inputs[1]) != *labels) {
      wrong(call.place, fmt::format("SoftmaxCrossEntropy reads {}, expected the input labels",
                                    graph_.label(op.inputs[1])));
    }
  }

  void check_loss() {
    const std::optional<ValueId> loss = graph_.find("loss");
    if (!loss || graph_.value(*loss).producer < 0) lacks("loss = ..., computed, of f32{}");
    const auto producer = static_cast<std::size_t>(graph_.value(*loss).producer);
    if (graph_.type(*loss) != TensorType{Shape{}, DType::f32}) {
      wrong(calls_[producer]->place,
            fmt::format("loss is {}, expected f32{{}}", to_string(graph_.type(*loss))));
    }
    loss_ = *loss;
  }

  // Labels may be read by the loss alone: -1 in them stands for a row that is left out.
  void check_labels() {
    const std::optional<ValueId> labels = graph_.find("labels");
    if (!labels) return;
    std::vector<ValueId> heads;
    for (std::size_t i = 0; i < calls_.size(); ++i) {
      const Op& op = graph_.ops()[i];
      for (std::size_t k = 0; k < op.inputs.size(); ++k) {
        if (graph_.storage(op.inputs[k]) == *labels) check_head(i, k, heads);
      }
    }
    if (heads.empty()) {
      wrong(find_declared(file_, "labels")->place,
            "labels are read by no SoftmaxCrossEntropy; use them or take them out");
    }
    find_logits(heads);
  }

  void check_head(std::size_t i, std::size_t k, std::vector<ValueId>& heads) {
    const Op& op = graph_.ops()[i];
    if (op.kind != OpKind::SoftmaxCrossEntropy || k != 1) {
      wrong(calls_[i]->place,
            fmt::format("{} reads labels, SoftmaxCrossEntropy alone may", name(op.kind)));
    }
    const std::int64_t columns = graph_.type(op.inputs[0]).shape[1];
    if (classes_ != 0 && columns != classes_) {
      wrong(calls_[i]->place,
            fmt::format("a head of {} classes on the labels of one of {}", columns, classes_));
    }
    classes_ = columns;
    heads.push_back(op.inputs[0]);
  }

  void find_logits(const std::vector<ValueId>& heads) {
    const std::optional<ValueId> named = graph_.find("logits");
    if (named) {
      const TensorType expected{{1, classes_}, DType::f32};
      if (graph_.type(*named) != expected) {
        fail(Fault::bad_input, "{}: logits are {} at B = 1, expected {}", file_.who,
             to_string(graph_.type(*named)), to_string(expected));
      }
      logits_ = "logits";
      return;
    }
    if (heads.size() > 1) {
      fail(Fault::bad_input,
           "{}: {} SoftmaxCrossEntropy read labels; name the logits that accuracy is counted of "
           "`logits`",
           file_.who, heads.size());
    }
    logits_ = graph_.value(heads.front()).name;
    if (logits_.empty()) {
      fail(Fault::bad_input,
           "{}: what SoftmaxCrossEntropy reads has no name; name it `logits`, so that accuracy can "
           "be counted",
           file_.who);
    }
  }

  // Whole numbers, as Argmax and Cast make them, have no gradient: no way leads through them.
  void check_parameters() {
    std::vector<bool> reached(graph_.values().size());
    reached[at(graph_.storage(loss_))] = true;
    for (std::size_t i = graph_.ops().size(); i-- > 0;) {
      const Op& op = graph_.ops()[i];
      const bool used = std::any_of(op.outputs.begin(), op.outputs.end(), [&](ValueId id) {
        return is_floating(graph_.type(id).dtype) && reached[at(graph_.storage(id))];
      });
      if (!used) continue;
      for (const ValueId id : op.inputs) reached[at(graph_.storage(id))] = true;
    }
    bool any = false;
    for (const DeclarationText& each : file_.declarations) {
      if (each.role != Role::parameter) continue;
      any = true;
      if (!reached[at(*graph_.find(each.name))]) {
        wrong(each.place, fmt::format("the loss does not depend on parameter '{}'; use it or take "
                                      "it out",
                                      each.name));
      }
    }
    if (!any) lacks("parameter NAME : f32{...} = he");
  }

  static std::size_t at(ValueId id) { return static_cast<std::size_t>(id.index); }

  const StepFile& file_;
  Graph graph_;
  std::vector<const CallText*> calls_;  // op by op
  ValueId loss_;
  std::int64_t classes_ = 0;
  std::string logits_;
};

}  // namespace

Model make_step_model(const StepFile& file, std::string_view name, const OptimizerSpec& optimizer) {
  Checker checker(file);
  checker.run();
  const auto source =
      std::make_shared<const Source>(Source{file, std::string(name), optimizer, checker.logits()});
  // Twice: what fits at one row alone, or at more than one alone, is found here.
  for (const std::int64_t batch : {1, 2}) {
    (void)step(*source, batch);
    (void)evaluation(*source, batch);
  }
  const std::vector<Expression>& dims = find_declared(file, "x")->type.dims;
  const Shape row = shape_value({dims.begin() + 1, dims.end()}, std::nullopt, file.who);
  std::vector<Initial> initial;
  for (const DeclarationText& each : file.declarations) {
    if (each.role == Role::parameter) initial.push_back(initial_of(each));
  }
  add_optimizer_states(initial, optimizer);
  return {.name = std::string(name),
          .step = [source](std::int64_t batch) { return step(*source, batch); },
          .evaluation = [source](std::int64_t batch) { return evaluation(*source, batch); },
          .initial = std::move(initial),
          .row = row,
          .features = row.elements(),
          .classes = checker.classes()};
}

}  // namespace stepscope
