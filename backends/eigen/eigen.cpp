// The eigen backend: from an op to the kernel of the chosen instruction set.
// SPDX-License-Identifier: Apache-2.0
#include "backends/eigen/eigen.h"

#include <string>

#include "backends/api/host.h"
#include "backends/cpu/kernels.h"
#include "backends/cpu/team.h"
#include "backends/eigen/composed.h"
#include "backends/eigen/kernels/table.h"
#include "backends/eigen/sites.h"
#include "graph/plan/wishes.h"
#include "ops/base/check.h"
#include "ops/ir/op_def.h"

namespace stepscope::eigen {
namespace {

using cpu::Isa;

// A product keeps two packed blocks on the stack of its caller, and in a convolution each thread of
// the team calls; the rest is for whoever calls, and for Eigen's frames.
constexpr cpu::TeamNeeds kStacks = {.caller_stack = 4 * kStackBufferBytes,
                                    .worker_stack = 2 * kStackBufferBytes + kStackBufferBytes / 2};

// Numbers: the struct of kernels/numbers.h that the body takes.
template <class Numbers>
class EigenKernel final : public Kernel {
 public:
  using Body = void (*)(Operands operands, const Numbers& numbers);

  EigenKernel(const OpSite& site, int threads, std::uint32_t in_place, Body body)
      : Kernel(site, {.in_place = in_place}, launch),
        body_(body),
        numbers_(numbers_of<Numbers>(site, threads)) {}

 private:
  static void launch(const Launch& call, Stream& stream) {
    const auto& self = static_cast<const EigenKernel&>(*call.kernel);
    stream.made_call(call, CallBy::library);
    self.body_(call.operands, self.numbers_);
  }

  Body body_;
  Numbers numbers_;
};

BackendInfo info_of(int threads, Isa isa) {
  return {.name = "eigen",
          .device = processor_name(),
          .threads = threads,
          .details = {{"eigen", table_of(isa).library_version},
                      {"instruction set", std::string(cpu::name(isa))},
                      {"openmp", cpu::openmp_runtime()},
                      {"stack buffers", fmt::format("up to {} bytes", kStackBufferBytes)}}};
}

std::unique_ptr<Kernel> refuse_unwished(const OpSite& site) {
  check_types(site);
  fail(Fault::unsupported,
       "eigen: has no kernel for {}, which passes make only for backends that wish for it",
       name(site.kind));
}

class EigenBackend final : public HostBackend {
 public:
  EigenBackend(int threads, Isa isa) : HostBackend(info_of(threads, isa)) {
    add_own(isa);
    add_composed({threads, isa});
    for (const OpKind kind : kWishedOps) set_maker(kind, refuse_unwished);
    const Table& table = table_of(isa);
#define STEPSCOPE_EIGEN_KERNEL(op, numbers, in_place)                             \
  set_maker(OpKind::op, [threads, body = table.op](const OpSite& site) {          \
    check_types(site);                                                            \
    return std::make_unique<EigenKernel<numbers>>(site, threads, in_place, body); \
  });
#include "backends/eigen/kernels/kernel_list.inc"
#undef STEPSCOPE_EIGEN_KERNEL
  }

 private:
  void add_composed(Machine machine) {
    using enum OpKind;
    for (const OpKind kind : {Linear, MatMulReluGrad, MatMulBiasGrad, MatMulUpdate}) {
      add(kind, machine, make_fused_product);
    }
    for (const OpKind kind : {Conv2d, Conv2dBias}) add(kind, machine, make_convolution);
    for (const OpKind kind : {Conv2dInputGrad, Conv2dInputReluGrad}) {
      add(kind, machine, make_input_grad);
    }
    for (const OpKind kind : {Conv2dWeightGrad, Conv2dWeightBiasGrad, Conv2dWeightUpdate}) {
      add(kind, machine, make_weight_grad);
    }
  }

  bool open_team() override {
    cpu::open_team(info().threads);
    return true;
  }

 private:
  using Make = std::unique_ptr<Kernel> (*)(const OpSite& site, Machine machine);
  void add(OpKind kind, Machine machine, Make make) {
    set_maker(kind, [machine, make](const OpSite& site) {
      check_types(site);
      return make(site, machine);
    });
  }

  void add_own(Isa isa) {
    for (std::size_t i = 0; i < kBuiltinOps; ++i) {
      const auto kind = static_cast<OpKind>(i);
      if (!cpu::has_body(kind)) continue;
      set_maker(kind, [isa](const OpSite& site) {
        check_types(site);
        return cpu::make_kernel(site, isa);
      });
    }
  }
};

}  // namespace

const Table& table_of(Isa isa) {
  switch (isa) {
    case Isa::v2:
      return v2::table;
    case Isa::v3:
      return v3::table;
    case Isa::v4:
      return v4::table;
  }
  fail(Fault::unsupported, "eigen: no kernels for instruction set {}", static_cast<int>(isa));
}

std::unique_ptr<Backend> make_backend(const BackendOptions& options, Isa isa) {
  check(cpu::can_run(isa), Fault::unsupported, "eigen: {} cannot run {}", processor_name(),
        cpu::name(isa));
  cpu::require_team("eigen", options.threads, kStacks);
  return std::make_unique<EigenBackend>(options.threads, isa);
}

std::unique_ptr<Backend> make_backend(const BackendOptions& options) {
  return make_backend(options, cpu::best_isa());
}

}  // namespace stepscope::eigen
