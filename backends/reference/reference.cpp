// The reference backend: the table from op to kernel, made from the op list.
// SPDX-License-Identifier: Apache-2.0
#include "backends/reference/reference.h"

#include <algorithm>
#include <iterator>

#include "backends/api/host.h"
#include "backends/reference/kernel.h"
#include "ops/base/check.h"
#include "ops/ir/op_def.h"

namespace stepscope::reference {
namespace {

template <class T, void (*kBody)(const Call<T>&)>
void launch(const Launch& call, Stream& stream) {
  stream.made_call(call, CallBy::own);
  kBody({call.kernel->site(), call.operands});
}

// For each element of its result MaxPool saves an i32, LinearReluMask a byte.
std::size_t saved_bytes(const OpSite& site) {
  const std::size_t each = site.kind == OpKind::MaxPool          ? sizeof(std::int32_t)
                           : site.kind == OpKind::LinearReluMask ? sizeof(std::uint8_t)
                                                                 : 0;
  return each == 0 ? 0 : static_cast<std::size_t>(site.out[1].shape.elements()) * each;
}

class ReferenceKernel final : public Kernel {
 public:
  // Every kernel here reads an element before it writes it and never another afterwards, where the
  // op's definition allows writing in place at all.
  ReferenceKernel(const OpSite& site, Function function)
      : Kernel(site, {.saved = saved_bytes(site), .in_place = ~0U}, function) {}
};

bool uses(const OpSite& site, DType dtype) {
  const auto is = [dtype](const TensorType& type) { return type.dtype == dtype; };
  return std::any_of(site.in.begin(), site.in.end(), is) ||
         std::any_of(site.out.begin(), site.out.end(), is);
}

// Pixels are cast and moved; saved winners and masks are declared as bytes.
bool takes_u8(OpKind kind) {
  constexpr OpKind kKinds[] = {
      OpKind::Cast,          OpKind::Reorder,         OpKind::MaxPool,
      OpKind::MaxPoolGrad,   OpKind::MaxPoolReluGrad, OpKind::LinearReluMask,
      OpKind::MatMulMaskGrad};
  return std::find(std::begin(kKinds), std::end(kKinds), kind) != std::end(kKinds);
}

void check_types(const OpSite& site) {
  for (const DType dtype : {DType::bf16, DType::f16, DType::u8}) {
    const bool refused = uses(site, dtype) && !(dtype == DType::u8 && takes_u8(site.kind));
    check(!refused, Fault::unsupported, "reference: {} on {}, only f32, f64 and i32 are",
          name(site.kind), name(dtype));
  }
}

void check_layouts(const OpSite& site) {
  for (const auto* types : {&site.in, &site.out}) {
    for (const TensorType& type : *types) {
      check(type.layout == LayoutId::row_major, Fault::unsupported,
            "reference: {} on {}, only row-major tensors are", name(site.kind), to_string(type));
    }
  }
}

template <void (*kF32)(const Call<float>&), void (*kF64)(const Call<double>&)>
std::unique_ptr<Kernel> make(const OpSite& site) {
  check_types(site);
  check_layouts(site);
  return std::make_unique<ReferenceKernel>(
      site, uses(site, DType::f64) ? launch<double, kF64> : launch<float, kF32>);
}

class ReferenceBackend final : public HostBackend {
 public:
  ReferenceBackend() : HostBackend({.name = "reference", .device = processor_name()}) {
#define STEPSCOPE_OP(name) set_maker(OpKind::name, make<name<float>, name<double>>);
#include "ops/ir/op_list.inc"
#undef STEPSCOPE_OP
  }
};

}  // namespace

std::unique_ptr<Backend> make_backend(const BackendOptions&) {
  return std::make_unique<ReferenceBackend>();
}

}  // namespace stepscope::reference
