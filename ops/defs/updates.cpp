// Updates of parameters. Rate and step count are values of the control block, in device memory.
// An update takes `tensors` parameters W1, W2, ..., then their gradients g1, g2, ..., then the
// states, kind by kind; the results come in the same order. With one tensor: W, g, ...
// An update with advance_step takes the step count as well and leaves it one higher: the last
// update of a step does, so that counting costs no launch. Nothing flows back through an update.
// SPDX-License-Identifier: Apache-2.0
#include "ops/base/check.h"
#include "ops/ir/op_def.h"

namespace stepscope::defs {
namespace {

// How the operands of an update lie: `tensors` times `per_tensor` (parameter, gradient, states),
// then the rate if there is one, then the step count if there is one.
struct Operands {
  std::size_t tensors = 1;
  std::size_t per_tensor = 2;
  bool rate = true;
  bool step = false;

  std::size_t rate_at() const { return tensors * per_tensor; }
  std::size_t step_at() const { return rate_at() + (rate ? 1 : 0); }
  std::size_t inputs() const { return step_at() + (step ? 1 : 0); }
  std::size_t tensor_outputs() const { return tensors * (per_tensor - 1); }
  // Output: the parameters, then the states; both lie as the inputs do, without the gradients.
  std::size_t overwritten(std::size_t output) const {
    return output < tensors ? output : output + tensors;
  }
};

Operands operands_of(const SgdAttrs& attrs) {
  return {static_cast<std::size_t>(attrs.tensors), 2, !attrs.scaled_gradient, attrs.advance_step};
}
Operands operands_of(const MomentumAttrs& attrs) {
  return {static_cast<std::size_t>(attrs.tensors), 3, true, attrs.advance_step};
}
Operands operands_of(const AdamAttrs& attrs) {
  return {static_cast<std::size_t>(attrs.tensors), 4, true, true};
}

template <class UpdateAttrs>
void check_update(std::string_view op, std::span<const TensorType> in, const UpdateAttrs& attrs,
                  TypeList& out) {
  // Bounded before it is counted with: times the operands of each it must not wrap around.
  constexpr auto kMostTensors = static_cast<std::int64_t>(kMaxInputs);
  check(attrs.tensors >= 1 && attrs.tensors <= kMostTensors, Fault::bad_graph,
        "{}: tensors must be 1 to {}, got {}", op, kMostTensors, attrs.tensors);
  const Operands operands = operands_of(attrs);
  check_arity(op, in, operands.inputs());
  check_floating(op, in[0], "the parameter");
  for (std::size_t i = 0; i < operands.tensors; ++i) {
    check(in[i].dtype == in[0].dtype, Fault::bad_graph, "{}: element types differ, {} and {}", op,
          name(in[0].dtype), name(in[i].dtype));
    for (std::size_t k = 1; k < operands.per_tensor; ++k) {
      check_same_type(op, in[i], in[k * operands.tensors + i]);
    }
  }
  if (operands.rate) check_same_type(op, in[operands.rate_at()], {Shape{}, in[0].dtype});
  if (operands.step) check_same_type(op, in[operands.step_at()], {Shape{}, DType::i32});
  for (std::size_t k = 0; k < operands.tensor_outputs(); ++k) {
    out.push_back(in[operands.overwritten(k)]);
  }
  if (attrs.advance_step) out.push_back(in[operands.step_at()]);
}

template <class UpdateAttrs>
int overwrites(const Attrs& attrs, std::size_t, std::size_t output) {
  const Operands operands = operands_of(std::get<UpdateAttrs>(attrs));
  return static_cast<int>(output < operands.tensor_outputs() ? operands.overwritten(output)
                                                             : operands.step_at());
}

// W, g, rate {}[, step i32{}] -> W - rate g[, step + 1]; with scaled_gradient W, g -> W - g
void infer_sgd(std::span<const TensorType> in, const Attrs& attrs, TypeList& out) {
  check_update("SgdUpdate", in, own_attrs<SgdAttrs>("SgdUpdate", attrs), out);
}

// W, g, velocity v, rate {}[, step i32{}] -> W - rate v', v' = mu v + g[, step + 1]
void infer_momentum(std::span<const TensorType> in, const Attrs& attrs, TypeList& out) {
  const auto& settings = own_attrs<MomentumAttrs>("MomentumUpdate", attrs);
  check_update("MomentumUpdate", in, settings, out);
  check(settings.mu >= 0.0 && settings.mu < 1.0, Fault::bad_graph,
        "MomentumUpdate: mu must be in [0, 1), got {}", settings.mu);
}

// W, g, m, v, rate {}, step i32{} -> W', m' = b1 m + (1 - b1) g, v' = b2 v + (1 - b2) g g[, step +
// 1] with t = step + 1 and W' = W - rate (m' / (1 - b1^t)) / (sqrt(v' / (1 - b2^t)) + epsilon)
void infer_adam(std::span<const TensorType> in, const Attrs& attrs, TypeList& out) {
  const auto& settings = own_attrs<AdamAttrs>("AdamUpdate", attrs);
  check_update("AdamUpdate", in, settings, out);
  for (const double beta : {settings.beta1, settings.beta2}) {
    check(beta >= 0.0 && beta < 1.0, Fault::bad_graph,
          "AdamUpdate: betas must be in [0, 1), got {}", beta);
  }
  check(settings.epsilon > 0.0, Fault::bad_graph, "AdamUpdate: epsilon must be above 0, got {}",
        settings.epsilon);
}

template <class UpdateAttrs, int kFlops>
Work work(std::span<const TensorType> in, std::span<const TensorType> out, const Attrs& attrs) {
  double elements = 0.0;
  for (std::size_t i = 0; i < operands_of(std::get<UpdateAttrs>(attrs)).tensors; ++i) {
    elements += static_cast<double>(in[i].shape.elements());
  }
  return {kFlops * elements, bytes_moved(in, out)};
}

}  // namespace

extern const OpDef SgdUpdate = {.name = "SgdUpdate",
                                .infer = infer_sgd,
                                .work = work<SgdAttrs, 2>,
                                .attrs = SgdAttrs{},
                                .overwrites = overwrites<SgdAttrs>};

extern const OpDef MomentumUpdate = {.name = "MomentumUpdate",
                                     .infer = infer_momentum,
                                     .work = work<MomentumAttrs, 4>,
                                     .attrs = MomentumAttrs{},
                                     .overwrites = overwrites<MomentumAttrs>};

// Two moments (3 and 4), two corrections, root, sum, quotient, product, difference.
extern const OpDef AdamUpdate = {.name = "AdamUpdate",
                                 .infer = infer_adam,
                                 .work = work<AdamAttrs, 14>,
                                 .attrs = AdamAttrs{},
                                 .overwrites = overwrites<AdamAttrs>};

}  // namespace stepscope::defs
