// HostBackend does memory, stream and recording; what is left is a table of kernels.
// SPDX-License-Identifier: Apache-2.0
#include "plain_backend.h"

#include <cstddef>

#include "backends/api/host.h"
#include "ops/base/check.h"
#include "ops/ir/op_def.h"
#include "softplus.h"

namespace consumer {
namespace {

using namespace stepscope;

float sum(float a, float b) { return a + b; }
float product(float a, float b) { return a * b; }

// a, b -> y, all of one shape; `kOff` is added to the last element.
template <float (*kOf)(float, float), int kOff>
void launch(const Launch& call, Stream& stream) {
  stream.made_call(call, CallBy::own);
  const auto* a = reinterpret_cast<const float*>(call.operands[0]);
  const auto* b = reinterpret_cast<const float*>(call.operands[1]);
  auto* y = reinterpret_cast<float*>(call.operands[2]);
  const std::int64_t n = call.kernel->site().out[0].shape.elements();
  for (std::int64_t i = 0; i < n; ++i) y[i] = kOf(a[i], b[i]);
  y[n - 1] += 1e-3F * static_cast<float>(kOff);
}

class PlainKernel final : public Kernel {
 public:
  PlainKernel(const OpSite& site, Function function)
      : Kernel(site, {.scratch = 0, .saved = 0, .in_place = 0b11, .output_bytes = {}}, function) {}
};

template <float (*kOf)(float, float), int kOff = 0>
std::unique_ptr<Kernel> make(const OpSite& site) {
  for (const TensorType& type : site.in) {
    check(type.dtype == DType::f32, Fault::unsupported, "plain: {} on {}, only f32 is",
          name(site.kind), name(type.dtype));
  }
  return std::make_unique<PlainKernel>(site, launch<kOf, kOff>);
}

class PlainBackend final : public HostBackend {
 public:
  explicit PlainBackend(Maker add) : HostBackend(describe()) {
    set_maker(OpKind::Add, std::move(add));
    set_maker(OpKind::Mul, make<product>);
    set_maker(softplus_op(), make_softplus);
  }

 private:
  static BackendInfo describe() {
    BackendInfo info;
    info.name = "plain";
    info.device = processor_name();
    return info;
  }
};

}  // namespace

std::unique_ptr<Backend> make_plain_backend(const BackendOptions&) {
  return std::make_unique<PlainBackend>(make<sum>);
}

std::unique_ptr<Backend> make_defective_backend(const BackendOptions&) {
  return std::make_unique<PlainBackend>(make<sum, 1>);
}

}  // namespace consumer
