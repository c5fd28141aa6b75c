// Finding the body of a site, and the kernel around it.
// SPDX-License-Identifier: Apache-2.0
#include "backends/cpu/kernels.h"

#include <algorithm>

#include "backends/api/stream.h"
#include "backends/cpu/layout.h"
#include "backends/cpu/lower.h"
#include "ops/base/check.h"
#include "ops/ir/op_def.h"

namespace stepscope::cpu {
namespace {

Lower find(OpKind kind) {
  for (const auto family : {lower_pointwise, lower_rows, lower_images, lower_updates}) {
    const Lower lower = family(kind);
    if (lower != nullptr) return lower;
  }
  return nullptr;
}

const Table& table_of(Isa isa) {
  switch (isa) {
    case Isa::v2:
      return v2::table;
    case Isa::v3:
      return v3::table;
    case Isa::v4:
      return v4::table;
  }
  fail(Fault::unsupported, "cpu: no kernels for instruction set {}", static_cast<int>(isa));
}

class OwnKernel final : public Kernel {
 public:
  OwnKernel(const OpSite& site, const Body& body)
      : Kernel(site,
               {.scratch = body.scratch_bytes(),
                .saved = body.saved_bytes(),
                .in_place = body.in_place(),
                .output_bytes = output_bytes(site)},
               launch),
        body_(body) {}

 private:
  static void launch(const Launch& call, Stream& stream) {
    stream.made_call(call, CallBy::own);
    static_cast<const OwnKernel&>(*call.kernel).body_(call.operands, call.scratch);
  }

  Body body_;
};

}  // namespace

bool has_body(OpKind kind) { return find(kind) != nullptr; }

Body make_body(const OpSite& site, Isa isa) {
  const Lower lower = find(site.kind);
  check(lower != nullptr, Fault::unsupported, "cpu: has no kernel for {}",
        stepscope::name(site.kind));
  return lower(site, table_of(isa));
}

std::unique_ptr<Kernel> make_kernel(const OpSite& site, Isa isa) {
  return std::make_unique<OwnKernel>(site, make_body(site, isa));
}

std::vector<std::size_t> output_bytes(const OpSite& site) {
  const auto& out = site.out;
  const bool dense = std::all_of(out.begin(), out.end(), [](const TensorType& type) {
    return type.layout == LayoutId::row_major;
  });
  std::vector<std::size_t> bytes;
  if (dense) return bytes;
  bytes.reserve(out.size());
  for (const TensorType& type : out) bytes.push_back(stored_bytes(type));
  return bytes;
}

void check_f32(const OpSite& site) {
  const auto check_each = [&site](const std::vector<TensorType>& types) {
    for (const TensorType& type : types) {
      check(type.dtype == DType::f32 || type.dtype == DType::i32 || type.dtype == DType::u8,
            Fault::unsupported, "cpu: {} on {}, only f32 is; take the reference backend",
            name(site.kind), name(type.dtype));
    }
  };
  check_each(site.in);
  check_each(site.out);
}

void check_row_major(const OpSite& site) {
  const auto check_each = [&site](const std::vector<TensorType>& types) {
    for (const TensorType& type : types) {
      check(type.layout == LayoutId::row_major, Fault::unsupported,
            "cpu: {} on layout {}, only row-major is", name(site.kind),
            static_cast<int>(type.layout));
    }
  };
  check_each(site.in);
  check_each(site.out);
}

Blocked blocked(const TensorType& type) {
  const std::int64_t N = type.shape[0], C = type.shape[1];
  return {N, C, type.shape.elements() / (N * C), channel_block(type.layout)};
}

Padding padding_of(const TensorType& type) {
  if (channel_block(type.layout) == 1) return {};
  const auto [N, C, inner, block] = blocked(type);
  if (C % block == 0) return {};
  return {N, stored_elements(type) / N, inner, block, C % block};
}

}  // namespace stepscope::cpu
