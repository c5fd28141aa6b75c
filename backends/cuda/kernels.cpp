// From an op to its own kernel: which function runs it, and over which inputs output 0 may lie.
// SPDX-License-Identifier: Apache-2.0
#include "backends/cuda/kernels.h"

#include "backends/cuda/own_kernel.h"
#include "backends/cuda/own_numbers.h"

namespace stepscope::cuda {
namespace {

using Maker = std::unique_ptr<Kernel> (*)(const OpSite& site);

// kNumbersOf(site) -> what kRun takes. kInPlace: bit i, output 0 may lie over input i.
template <auto kNumbersOf, auto kRun, std::uint32_t kInPlace = 0>
std::unique_ptr<Kernel> make(const OpSite& site) {
  using Numbers = decltype(kNumbersOf(site));
  return std::make_unique<OwnKernel<Numbers, kRun>>(site, Needs{.in_place = kInPlace},
                                                    kNumbersOf(site));
}

template <auto kNumbersOf, auto kRun>
std::unique_ptr<Kernel> make_with_tickets(const OpSite& site) {
  using Numbers = decltype(kNumbersOf(site));
  return std::make_unique<TicketKernel<Numbers, kRun>>(site, kNumbersOf(site));
}

constexpr Rows (*kRowsOf)(const OpSite&) = rows_of;

Maker pointwise(OpKind kind) {
  switch (kind) {
    case OpKind::Add:
      return make<elements_of, run_add, 0b11>;
    case OpKind::Sub:
      return make<elements_of, run_sub, 0b11>;
    case OpKind::Mul:
      return make<elements_of, run_mul, 0b11>;
    case OpKind::Scale:
      return make<scaled_of, run_scale, 0b1>;
    case OpKind::Fill:
      return make<scaled_of, run_fill>;
    case OpKind::Relu:
      return make<elements_of, run_relu, 0b1>;
    case OpKind::ReluGrad:
      return make<elements_of, run_relu_grad, 0b11>;
    case OpKind::Tanh:
      return make<elements_of, run_tanh, 0b1>;
    case OpKind::TanhGrad:
      return make<elements_of, run_tanh_grad, 0b11>;
    case OpKind::Sigmoid:
      return make<elements_of, run_sigmoid, 0b1>;
    case OpKind::SigmoidGrad:
      return make<elements_of, run_sigmoid_grad, 0b11>;
    case OpKind::PointwiseChain:
      return make<chain_of, run_chain, 0b1>;
    case OpKind::Cast:
      return make<casting_of, run_cast>;
    default:
      return nullptr;
  }
}

Maker rows(OpKind kind) {
  switch (kind) {
    case OpKind::ReduceSum:
      return make<axis_of, run_reduce_sum>;
    case OpKind::Broadcast:
      return make<axis_of, run_broadcast>;
    case OpKind::AddBias:
      return make<axis_of, run_add_bias, 0b1>;
    case OpKind::BiasGrad:
      return make<axis_of, run_bias_grad>;
    case OpKind::SoftmaxCrossEntropy:
      return make_with_tickets<kRowsOf, run_softmax>;
    case OpKind::SoftmaxCrossEntropyWithGrad:
      return make_with_tickets<kRowsOf, run_softmax_with_grad>;
    case OpKind::SoftmaxCrossEntropyGrad:
      return make<kRowsOf, run_softmax_grad, 0b1>;
    case OpKind::Argmax:
      return make<kRowsOf, run_argmax>;
    case OpKind::CorrectCount:
      return make_with_tickets<kRowsOf, run_correct_count>;
    case OpKind::Gather:
      return make<indexed_of, run_gather>;
    case OpKind::ScatterAdd:
      return make<indexed_of, run_scatter_add>;
    default:
      return nullptr;
  }
}

Maker updates(OpKind kind) {
  switch (kind) {
    case OpKind::SgdUpdate:
      return make<update_of, run_sgd>;
    case OpKind::MomentumUpdate:
      return make<update_of, run_momentum>;
    case OpKind::AdamUpdate:
      return make_with_tickets<update_of, run_adam>;
    case OpKind::MatMulSgdUpdate:
      return make_with_tickets<small_update_of, run_small_update>;
    case OpKind::ScheduledRate:
      return make<schedule_of, run_scheduled_rate>;
    default:
      return nullptr;
  }
}

}  // namespace

std::unique_ptr<Kernel> make_own_kernel(const OpSite& site) {
  for (const auto family : {pointwise, rows, updates}) {
    const Maker maker = family(site.kind);
    if (maker == nullptr) continue;
    check_operands(site);
    return maker(site);
  }
  return nullptr;
}

}  // namespace stepscope::cuda
