// One table of what ops take beside f32.
// SPDX-License-Identifier: Apache-2.0
#include "backends/cuda/site_types.h"

#include "backends/cuda/build.h"
#include "ops/base/check.h"
#include "ops/ir/op_def.h"

namespace stepscope::cuda {
namespace {

bool takes(OpKind kind, DType dtype) {
  using enum OpKind;
  switch (kind) {
    case Cast:
      return dtype == DType::f64 || dtype == DType::i32 || dtype == DType::u8;
    case LinearReluMask:
    case MatMulMaskGrad:
      return dtype == DType::u8;  // what was saved
    case SoftmaxCrossEntropy:
    case SoftmaxCrossEntropyGrad:
    case SoftmaxCrossEntropyWithGrad:
    case Argmax:
    case CorrectCount:
    case SgdUpdate:
    case MomentumUpdate:
    case AdamUpdate:
    case ScheduledRate:
    case MatMulSgdUpdate:
    case Gather:
    case ScatterAdd:
      return dtype == DType::i32;  // labels, indices, counts
    default:
      return false;
  }
}

}  // namespace

void check_types(const OpSite& site) {
  for (const auto* types : {&site.in, &site.out}) {
    for (const TensorType& type : *types) {
      check(type.layout == LayoutId::row_major, Fault::unsupported,
            "{}: {} on layout {}, only row-major is", kBuild.name, name(site.kind),
            static_cast<int>(type.layout));
      check(type.dtype == DType::f32 || takes(site.kind, type.dtype), Fault::unsupported,
            "{}: {} on {}, only f32 is; take the reference backend", kBuild.name, name(site.kind),
            name(type.dtype));
    }
  }
}

}  // namespace stepscope::cuda
