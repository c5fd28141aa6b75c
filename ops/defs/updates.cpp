// Updates of parameters. Rate and step count are values of the control block, in device memory.
// An update with advance_step takes the step count as well and leaves it one higher: the last
// update of a step does, so that counting costs no launch. Nothing flows back through an update.
// SPDX-License-Identifier: Apache-2.0
#include <initializer_list>

#include "ops/base/check.h"
#include "ops/ir/op_def.h"

namespace stepscope::defs {
namespace {

// in: `tensors` of one floating type (parameter, gradient, moments), then the rate, then the step
// count where `with_step`.
void check_update(std::string_view op, std::span<const TensorType> in, std::size_t tensors,
                  bool with_step) {
  check_arity(op, in, tensors + 1 + (with_step ? 1 : 0));
  check_floating(op, in[0], "the parameter");
  for (std::size_t i = 1; i < tensors; ++i) check_same_type(op, in[0], in[i]);
  check_same_type(op, in[tensors], {Shape{}, in[0].dtype});
  if (with_step) check_same_type(op, in[tensors + 1], {Shape{}, DType::i32});
}

// parameter W, gradient g, rate {}[, step i32{}] -> W - rate g[, step + 1]
void infer_sgd(std::span<const TensorType> in, const Attrs& attrs, TypeList& out) {
  const bool advance = own_attrs<SgdAttrs>("SgdUpdate", attrs).advance_step;
  check_update("SgdUpdate", in, 2, advance);
  out.push_back(in[0]);
  if (advance) out.push_back(in[3]);
}

// W, g, velocity v, rate {}[, step i32{}] -> W - rate v', v' = mu v + g[, step + 1]
void infer_momentum(std::span<const TensorType> in, const Attrs& attrs, TypeList& out) {
  const auto& settings = own_attrs<MomentumAttrs>("MomentumUpdate", attrs);
  check_update("MomentumUpdate", in, 3, settings.advance_step);
  check(settings.mu >= 0.0 && settings.mu < 1.0, Fault::bad_graph,
        "MomentumUpdate: mu must be in [0, 1), got {}", settings.mu);
  out.push_back(in[0]);
  out.push_back(in[2]);
  if (settings.advance_step) out.push_back(in[4]);
}

// W, g, m, v, rate {}, step i32{} -> W', m' = b1 m + (1 - b1) g, v' = b2 v + (1 - b2) g g[, step +
// 1] with t = step + 1 and W' = W - rate (m' / (1 - b1^t)) / (sqrt(v' / (1 - b2^t)) + epsilon)
void infer_adam(std::span<const TensorType> in, const Attrs& attrs, TypeList& out) {
  const auto& settings = own_attrs<AdamAttrs>("AdamUpdate", attrs);
  check_update("AdamUpdate", in, 4, true);
  for (const double beta : {settings.beta1, settings.beta2}) {
    check(beta >= 0.0 && beta < 1.0, Fault::bad_graph,
          "AdamUpdate: betas must be in [0, 1), got {}", beta);
  }
  check(settings.epsilon > 0.0, Fault::bad_graph, "AdamUpdate: epsilon must be above 0, got {}",
        settings.epsilon);
  out.push_back(in[0]);
  out.push_back(in[2]);
  out.push_back(in[3]);
  if (settings.advance_step) out.push_back(in[5]);
}

template <int kFlops>
Work work(std::span<const TensorType> in, std::span<const TensorType> out, const Attrs&) {
  return {kFlops * static_cast<double>(out[0].shape.elements()), bytes_moved(in, out)};
}

}  // namespace

extern const OpDef SgdUpdate = {
    .name = "SgdUpdate", .infer = infer_sgd, .work = work<2>, .overwrites = {0, 3, -1, -1, -1, -1}};

extern const OpDef MomentumUpdate = {.name = "MomentumUpdate",
                                     .infer = infer_momentum,
                                     .work = work<4>,
                                     .overwrites = {0, 2, 4, -1, -1, -1}};

// Two moments (3 and 4), two corrections, root, sum, quotient, product, difference.
extern const OpDef AdamUpdate = {.name = "AdamUpdate",
                                 .infer = infer_adam,
                                 .work = work<14>,
                                 .overwrites = {0, 2, 3, 5, -1, -1}};

}  // namespace stepscope::defs
