// Products with an own part before or behind them.
// SPDX-License-Identifier: Apache-2.0
#include <cstring>
#include <optional>
#include <variant>

#include "backends/api/stream.h"
#include "backends/cpu/kernels.h"
#include "backends/eigen/composed.h"
#include "backends/eigen/kernels/table.h"
#include "backends/eigen/sites.h"

namespace stepscope::eigen {
namespace {

using cpu::Body;

float* f32(std::byte* address) { return reinterpret_cast<float*>(address); }

class FusedProduct final : public Kernel {
 public:
  FusedProduct(const OpSite& site, Machine machine, const Product& product, std::optional<Body> own,
               Function function)
      : Kernel(site, {}, function, own ? 2 : 1),
        table_(table_of(machine.isa)),
        product_(product),
        own_(own) {}

  // a, b, bias -> c
  static void linear(const Launch& call, Stream& stream) {
    const FusedProduct& self = begin(call, stream);
    self.table_.product_and_bias(call.operands, self.product_);
    self.run_own(call, stream, {call.operands[3], call.operands[3]});
  }

  // a, b, y -> c
  static void relu_grad(const Launch& call, Stream& stream) {
    const FusedProduct& self = begin(call, stream);
    std::byte* const c = call.operands[3];
    std::byte* const product[] = {call.operands[0], call.operands[1], c};
    self.table_.MatMul(product, self.product_);
    self.run_own(call, stream, {c, call.operands[2], c});
  }

  // a, b -> c, sums
  static void bias_grad(const Launch& call, Stream& stream) {
    const FusedProduct& self = begin(call, stream);
    self.table_.MatMul(call.operands, self.product_);
    self.run_own(call, stream, {call.operands[1], call.operands[3]});
  }

  // W, a, b -> W', which lies over W[, sums]
  static void update(const Launch& call, Stream& stream) {
    const FusedProduct& self = begin(call, stream);
    const auto [W, a, b, updated] = first_four(call);
    if (updated != W) std::memcpy(updated, W, self.site().out[0].bytes());
    self.table_.subtract_product(f32(a), f32(b), f32(updated), self.product_);
    if (self.own_) self.run_own(call, stream, {b, call.operands[4]});
  }

 private:
  struct Four {
    std::byte *W, *a, *b, *updated;
  };
  static Four first_four(const Launch& call) {
    return {call.operands[0], call.operands[1], call.operands[2], call.operands[3]};
  }

  static const FusedProduct& begin(const Launch& call, Stream& stream) {
    stream.made_call(call, CallBy::library);
    return static_cast<const FusedProduct&>(*call.kernel);
  }

  template <std::size_t kN>
  void run_own(const Launch& call, Stream& stream, std::byte* const (&operands)[kN]) const {
    if (!own_) return;
    stream.made_call(call, CallBy::own);
    (*own_)(operands, nullptr);
  }

  const Table& table_;
  Product product_;
  std::optional<Body> own_;
};

Body column_sums(const TensorType& b, const TensorType& sums, cpu::Isa isa) {
  return cpu::make_body({OpKind::ReduceSum, ReduceAttrs{.axis = 0}, {b}, {sums}}, isa);
}

// a and b of MatMulUpdate stand behind W.
Product product_of_update(const OpSite& site, int threads) {
  const auto& attrs = std::get<ProductUpdateAttrs>(site.attrs);
  const Shape& c = site.in[0].shape;
  const std::int64_t K = site.in[1].shape[attrs.transpose_a ? 0 : 1];
  return {c[0], c[1], K, attrs.transpose_a, attrs.transpose_b, threads};
}

std::unique_ptr<Kernel> make_update(const OpSite& site, Machine machine) {
  std::optional<Body> sums;
  const auto& attrs = std::get<ProductUpdateAttrs>(site.attrs);
  if (attrs.bias_grad) sums = column_sums(site.in[2], site.out[1], machine.isa);
  return std::make_unique<FusedProduct>(site, machine, product_of_update(site, machine.threads),
                                        sums, FusedProduct::update);
}

}  // namespace

std::unique_ptr<Kernel> make_fused_product(const OpSite& site, Machine machine) {
  if (site.kind == OpKind::MatMulUpdate) return make_update(site, machine);
  const auto product = numbers_of<Product>(site, machine.threads);
  const auto make = [&](std::optional<Body> own, Kernel::Function function) {
    return std::make_unique<FusedProduct>(site, machine, product, own, function);
  };
  if (site.kind == OpKind::Linear) {
    const auto activation = std::get<MatMulAttrs>(site.attrs).activation;
    return make(activation_of(activation, site.out[0], machine.isa), FusedProduct::linear);
  }
  if (site.kind == OpKind::MatMulReluGrad) {
    const TensorType& c = site.out[0];
    return make(cpu::make_body({OpKind::ReluGrad, {}, {c, c}, {c}}, machine.isa),
                FusedProduct::relu_grad);
  }
  return make(column_sums(site.in[1], site.out[1], machine.isa), FusedProduct::bias_grad);
}

}  // namespace stepscope::eigen
