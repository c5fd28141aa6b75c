// Updates of one or more tensors, and the rate that they take.
// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <variant>

#include "backends/api/schedule_numbers.h"
#include "backends/cpu/lower.h"
#include "ops/base/check.h"
#include "ops/ir/op_def.h"

namespace stepscope::cpu {
namespace {

// The parameters are the first inputs.
Update update(const OpSite& site, std::int64_t tensors, bool advance_step) {
  check_f32(site);
  check_row_major(site);
  check(tensors <= kMaxTensors, Fault::unsupported, "cpu: {} of {} tensors, at most {} are",
        name(site.kind), tensors, kMaxTensors);
  Update numbers{};
  numbers.tensors = static_cast<int>(tensors);
  numbers.advance_step = advance_step;
  for (int t = 0; t < numbers.tensors; ++t) {
    numbers.elements[t] = site.in[static_cast<std::size_t>(t)].shape.elements();
  }
  return numbers;
}

Body sgd(const OpSite& site, const Table& table) {
  const auto& attrs = std::get<SgdAttrs>(site.attrs);
  Update numbers = update(site, attrs.tensors, attrs.advance_step);
  numbers.scaled_gradient = attrs.scaled_gradient;
  return {table.SgdUpdate, {.update = numbers}, {}};
}

Body momentum(const OpSite& site, const Table& table) {
  const auto& attrs = std::get<MomentumAttrs>(site.attrs);
  Update numbers = update(site, attrs.tensors, attrs.advance_step);
  numbers.mu = static_cast<float>(attrs.mu);
  return {table.MomentumUpdate, {.update = numbers}, {}};
}

Body adam(const OpSite& site, const Table& table) {
  const auto& attrs = std::get<AdamAttrs>(site.attrs);
  Update numbers = update(site, attrs.tensors, attrs.advance_step);
  numbers.beta1 = attrs.beta1;
  numbers.beta2 = attrs.beta2;
  numbers.epsilon = static_cast<float>(attrs.epsilon);
  return {table.AdamUpdate, {.update = numbers}, {}};
}

Body scheduled_rate(const OpSite& site, const Table& table) {
  check_f32(site);
  check_row_major(site);
  const ScheduleNumbers numbers = schedule_numbers(std::get<ScheduleAttrs>(site.attrs));
  return {table.ScheduledRate, {.schedule = numbers}, {}};
}

}  // namespace

Lower lower_updates(OpKind kind) {
  switch (kind) {
    case OpKind::SgdUpdate:
      return sgd;
    case OpKind::MomentumUpdate:
      return momentum;
    case OpKind::AdamUpdate:
      return adam;
    case OpKind::ScheduledRate:
      return scheduled_rate;
    default:
      return nullptr;
  }
}

}  // namespace stepscope::cpu
