// From the loss on: gradients, readers of all sorts, updates, kept values.
// SPDX-License-Identifier: Apache-2.0
#include "ops/autodiff/backward.h"
#include "ops/ir/build.h"
#include "tests/backends/random/program_maker.h"

namespace stepscope::test {

void ProgramMaker::append_loss() {
  graph_.enter(Phase::loss);
  loss_ = plain_sgd_ ? class_loss() : sum_of_heads();
  graph_.keep(loss_, "loss");
}

// Values that nobody has read, behind one that has a parameter.
std::vector<ValueId> ProgramMaker::unread(std::size_t at_most) const {
  std::vector<bool> is_read(graph_.values().size());
  for (const Op& op : graph_.ops()) {
    for (const ValueId id : op.inputs) is_read[at(graph_.source(id))] = true;
  }
  std::vector<ValueId> found = {graph_.ops()[0].outputs[0]};
  for (const ValueId id : pool_) {
    if (!is_read[at(graph_.source(id))] && !is_constant(id) && found.size() < at_most) {
      found.push_back(id);
    }
  }
  return found;
}

// The sum of a few scalars.
ValueId ProgramMaker::sum_of_heads() {
  ValueId loss;
  for (const ValueId head : unread(5)) {
    const ValueId term = scalar_of(head);
    loss = loss.valid() ? build::add(graph_, loss, term) : term;
  }
  return loss;
}

// Logits are the sum of products of what has a row for each label.
ValueId ProgramMaker::class_loss() {
  const std::int64_t N = shape(labels_)[0];
  const std::int64_t C = between(2, 10);
  take_labels_below(C);
  ValueId logits;
  for (ValueId head : unread(8)) {
    if (rank(head) == 0 || shape(head)[0] != N) continue;
    const std::int64_t features = elements(head) / N;
    if (rank(head) != 2) head = graph_.reshape(head, {N, features});
    const ValueId term = build::matmul(graph_, head, parameter({features, C}));
    logits = logits.valid() ? build::add(graph_, logits, term) : term;
  }
  if (!one_in(4)) logits = build::add_bias(graph_, logits, parameter({C}));
  const auto [loss, probabilities] = build::softmax_cross_entropy(graph_, logits, labels_);
  if (one_in(4)) readable_later_.push_back(probabilities);
  return loss;
}

bool ProgramMaker::is_constant(ValueId id) const {
  const std::int32_t maker = graph_.value(id).producer;
  return maker >= 0 && graph_.ops()[static_cast<std::size_t>(maker)].kind == OpKind::Fill;
}

ValueId ProgramMaker::scalar_of(ValueId head) {
  if (real_ && rank(head) == 2 && shape(head)[0] == shape(labels_)[0] && shape(head)[1] >= 2) {
    take_labels_below(shape(head)[1]);
    const auto [loss, probabilities] = build::softmax_cross_entropy(graph_, head, labels_);
    readable_later_.push_back(probabilities);
    return loss;
  }
  const auto count = static_cast<double>(elements(head));
  while (rank(head) > 0) head = build::reduce_sum(graph_, head, 0);
  return build::scale(graph_, head, real_ ? 1.0 / count : (one_in(2) ? 0.5 : 0.25));
}

void ProgramMaker::take_labels_below(std::int64_t classes) {
  classes_ = has_labels_ ? std::min(classes_, classes) : classes;
  has_labels_ = true;
}

// Parameters that the loss depends on, with their gradients. Nothing flows back through whole
// numbers.
void ProgramMaker::append_backward() {
  std::vector<bool> reaches(graph_.values().size());
  reaches[at(loss_)] = true;
  for (std::size_t i = graph_.ops().size(); i-- > 0;) {
    const Op& op = graph_.ops()[i];
    const bool reached = std::any_of(op.outputs.begin(), op.outputs.end(),
                                     [&](ValueId id) { return reaches[at(id)]; });
    if (!reached) continue;
    for (const ValueId id : op.inputs) {
      if (is_floating(graph_.type(id).dtype)) reaches[at(graph_.source(id))] = true;
    }
  }
  std::erase_if(parameters_, [&](ValueId id) { return !reaches[at(id)]; });
  graph_.enter(Phase::backward);
  gradients_ = add_backward(graph_, loss_, parameters_);
  if (!plain_sgd_) {
    readable_later_.insert(readable_later_.end(), gradients_.begin(), gradients_.end());
  }
  pool_.insert(pool_.end(), readable_later_.begin(), readable_later_.end());
}

// Ops that nothing flows back through.
void ProgramMaker::append_readers(const std::vector<ValueId>& readable) {
  for (std::uint64_t count = 1 + below(3); count > 0; --count) {
    keepable_.push_back(reader_of(readable[below(readable.size())]));
  }
}

ValueId ProgramMaker::reader_of(ValueId id) {
  const bool matrix = rank(id) == 2;
  ValueId made = build::scale(graph_, id, -0.5);
  if (matrix && one_in(5)) {
    made = graph_.apply1(OpKind::Argmax, {id});
    if (one_in(3)) made = graph_.apply1(OpKind::Cast, {made}, CastAttrs{DType::f32});
    if (one_in(4)) made = graph_.apply1(OpKind::Cast, {made}, CastAttrs{DType::u8});
  }
  if (matrix && shape(id)[0] == shape(labels_)[0] && one_in(4)) {
    made = build::correct_count(graph_, id, labels_);
  }
  if (rank(id) >= 2 && one_in(4)) made = graph_.apply1(OpKind::BiasGrad, {id});
  if (one_in(6)) made = graph_.apply1(OpKind::ReluGrad, {id, id});
  if (real_ && one_in(4)) made = graph_.apply1(OpKind::TanhGrad, {id, id});
  if (real_ && one_in(4)) made = graph_.apply1(OpKind::SigmoidGrad, {id, id});
  return made;
}

// That changes from the first step to the second.
ScheduleAttrs ProgramMaker::some_schedule() {
  switch (below(4)) {
    case 0:
      return {.warmup = 3, .start = 0.25};
    case 1:
      return {.kind = ScheduleKind::step, .steps = 1, .factor = 0.5};
    case 2:
      return {.kind = ScheduleKind::exponential, .factor = 0.9};
    default:
      return {.kind = ScheduleKind::cosine, .steps = 5, .floor = 0.1};
  }
}

// Every parameter once, some twice, some several by one op; the last update counts the step.
void ProgramMaker::append_updates() {
  graph_.enter(Phase::update);
  rate_ = graph_.declare(Role::state, f32({}), std::string(kLearningRate));
  step_ = graph_.declare(Role::state, {Shape{}, DType::i32}, std::string(kStepCount));
  if (real_ && one_in(3)) {
    rate_ = graph_.apply1(OpKind::ScheduledRate, {rate_, step_}, some_schedule());
  }
  std::vector<std::size_t> order;
  for (std::size_t i = 0; i < parameters_.size(); ++i) {
    order.insert(order.end(), one_in(4) && !plain_sgd_ ? 2 : 1, i);
  }
  for (std::size_t i = order.size(); i > 1; --i) std::swap(order[i - 1], order[below(i)]);
  updated_ = parameters_;
  while (!order.empty()) {
    const std::size_t k = order.size();
    std::vector<std::size_t> which = {order.back()};
    order.pop_back();
    const std::size_t most = one_in(3) && !plain_sgd_ ? 1 + below(4) : 1;
    while (which.size() < most && !order.empty() && std::ranges::count(which, order.back()) == 0) {
      which.push_back(order.back());
      order.pop_back();
    }
    append_update(which, k, order.empty());
  }
}

void ProgramMaker::append_update(const std::vector<std::size_t>& which, std::size_t k, bool last) {
  const std::uint64_t kind = plain_sgd_ ? 0 : below(real_ ? 3 : 2);
  const bool scaled = kind == 0 && !plain_sgd_ && one_in(5);
  std::vector<ValueId> inputs;
  for (const std::size_t each : which) inputs.push_back(updated_[each]);
  for (const std::size_t each : which) {
    const bool small = scaled && real_;  // a whole gradient would lead anywhere
    inputs.push_back(small ? build::scale(graph_, gradients_[each], 0.03) : gradients_[each]);
  }
  const auto add_states = [&](std::string_view what) {
    for (const std::size_t each : which) {
      inputs.push_back(graph_.declare(Role::state, graph_.type(updated_[each]),
                                      fmt::format("update{}.{}.{}", k, each, what)));
    }
  };
  const auto tensors = static_cast<std::int64_t>(which.size());
  if (kind == 1) add_states("velocity");
  if (kind == 2) {
    add_states("m");
    add_states("v");
  }
  if (!scaled) inputs.push_back(rate_);
  if (last || kind == 2) inputs.push_back(step_);
  std::vector<ValueId> made;
  if (kind == 0) made = graph_.apply(OpKind::SgdUpdate, inputs, SgdAttrs{last, tensors, scaled});
  if (kind == 1) {
    made = graph_.apply(OpKind::MomentumUpdate, inputs,
                        MomentumAttrs{real_ ? 0.9 : 0.5, last, tensors});
  }
  if (kind == 2) {
    // Epsilon keeps the slope of the update finite where a gradient crosses zero.
    made = graph_.apply(OpKind::AdamUpdate, inputs, AdamAttrs{0.9, 0.99, 1e-2, last, tensors});
  }
  for (std::size_t i = 0; i < which.size(); ++i) updated_[which[i]] = made[i];
}

void ProgramMaker::keep_some(const std::vector<ValueId>& readable) {
  for (std::uint64_t count = 2 + below(4); count > 0; --count) {
    keepable_.push_back(readable[below(readable.size())]);
  }
  for (const ValueId id : keepable_) {
    if (!graph_.value(id).kept) graph_.keep(id, fmt::format("kept{}", id.index));
  }
}

}  // namespace stepscope::test
