// The definition, the kernels and the cases of Softplus.
// SPDX-License-Identifier: Apache-2.0
#include "softplus.h"

#include <cmath>
#include <limits>
#include <numbers>

#include "ops/ir/build.h"
#include "ops/ir/op_def.h"
#include "tests/conformance/tolerance.h"

namespace consumer {
namespace {

using namespace stepscope;

constexpr std::string_view kName = "Softplus";

void infer(std::span<const TensorType> in, const Attrs&, TypeList& out) {
  check_arity(kName, in, 1);
  check_floating(kName, in[0], "x");
  out.push_back(in[0]);
}

// dx = dy sigmoid(x)
void vjp(GradientRequest& request) {
  const ValueId slope = build::sigmoid(request.graph, request.op.inputs[0]);
  request.input_grads[0] = build::mul(request.graph, request.output_grads[0], slope);
}

Work work(std::span<const TensorType> in, std::span<const TensorType> out, const Attrs&) {
  return {4.0 * static_cast<double>(in[0].shape.elements()), bytes_moved(in, out)};
}

// log(1 + exp(x)) = max(x, 0) + log(1 + exp(-|x|)), which never overflows. NaN stays NaN.
template <class T>
void launch(const Launch& call, Stream& stream) {
  stream.made_call(call, CallBy::own);
  const auto* x = reinterpret_cast<const T*>(call.operands[0]);
  auto* y = reinterpret_cast<T*>(call.operands[1]);
  const std::int64_t n = call.kernel->site().in[0].shape.elements();
  for (std::int64_t i = 0; i < n; ++i) {
    y[i] = (x[i] > T{0} ? x[i] : T{0}) + std::log1p(std::exp(-std::abs(x[i])));
  }
}

class SoftplusKernel final : public Kernel {
 public:
  SoftplusKernel(const OpSite& site, Function function)
      : Kernel(site, {.scratch = 0, .saved = 0, .in_place = 1, .output_bytes = {}}, function) {}
};

}  // namespace

OpKind softplus_op() {
  static const OpKind kind = [] {
    OpDef def;
    def.name = kName;
    def.infer = infer;
    def.vjp = vjp;
    def.work = work;
    def.in_place = 1;  // y may take the memory of x
    return add_op(def);
  }();
  return kind;
}

ValueId softplus(Graph& graph, ValueId x) { return graph.apply1(softplus_op(), {x}); }

std::unique_ptr<Kernel> make_softplus(const OpSite& site) {
  const DType dtype = site.in[0].dtype;
  check(dtype == DType::f32 || dtype == DType::f64, Fault::unsupported,
        "Softplus: on {}, only f32 and f64 are", name(dtype));
  return std::make_unique<SoftplusKernel>(site,
                                          dtype == DType::f64 ? launch<double> : launch<float>);
}

conformance::OpEntry softplus_entry() {
  using namespace conformance;
  constexpr double kInf = std::numeric_limits<double>::infinity();
  constexpr double kNan = std::numeric_limits<double>::quiet_NaN();
  OpEntry entry{softplus_op(), std::string(kName), {}};
  // exp, log and a sum; all terms are positive, so relative errors add up.
  entry.table.bound = relative(kExpRoundings + kLogRoundings + 1);
  for (const Shape& shape : pointwise_shapes()) {
    entry.table.cases.push_back({shape_name(shape), {}, {f32(shape, normal(3.0))}});
  }
  SpecialCase ends;
  ends.name = "ends";
  ends.in = {{{{5}, DType::f32}, {0.0, -kInf, kInf, kNan, 1000.0}, nullptr}};
  ends.out = {{std::numbers::ln2, 0.0, kInf, kNan, 1000.0}};
  entry.table.specials = {ends};
  return entry;
}

}  // namespace consumer
